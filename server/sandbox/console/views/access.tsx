import { useState } from "preact/hooks";
import { PageHead, ProblemText, ShownOnce } from "../ui/elements.tsx";
import { getToken, type Problem, type SandboxSchemas, sandbox, useCall } from "../ui/sandbox-api.ts";

/** Chooses the merchant whose records are shown, shows its access token, and creates tokens with fewer scopes. */
export function Access({ choose }: { choose: Choose }) {
  return (
    <section>
      <PageHead title="Access" />
      <p class="quiet">
        The access token decides which merchant you are. The tokens of acme and globex always work, and are
        public. This tab remembers its token until you close it.
      </p>
      <h2>Use another access token</h2>
      <TokenForm choose={choose} />
      <h2>Create a restricted token</h2>
      <NewToken choose={choose} />
    </section>
  );
}

const SCOPES = ["refunds", "webhooks"] as const;

type Choose = (token: string) => void;

/** In place of every view, because the sandbox shows nothing to a token that it does not know. */
export function Refused({ problem, choose }: { problem: Problem; choose: Choose }) {
  return (
    <section>
      <PageHead title="Access token refused" />
      <ProblemText problem={problem} />
      <p>
        The sandbox doesn't know the token …{getToken().slice(-6)}. Enter another one, or choose a merchant at
        the top.
      </p>
      <TokenForm choose={choose} />
    </section>
  );
}

/** The characters that a header can carry. */
const TOKEN = "[!-~]+";

function TokenForm({ choose }: { choose: Choose }) {
  return (
    <form
      class="form card"
      onSubmit={(event) => {
        event.preventDefault();
        choose(String(new FormData(event.currentTarget).get("token")).trim());
      }}
    >
      <div class="field">
        <label for="token">Access token</label>
        <input
          id="token"
          name="token"
          autocomplete="off"
          spellcheck={false}
          defaultValue={getToken()}
          pattern={`\\s*${TOKEN}\\s*`}
          title="ASCII characters without spaces"
          required
        />
      </div>
      <div class="row submit">
        <button type="submit" class="primary">
          Use this token
        </button>
      </div>
    </form>
  );
}

function NewToken({ choose }: { choose: Choose }) {
  const [made, setMade] = useState<SandboxSchemas["Token"]>();
  const { problem, busy, run } = useCall();
  const create = async (event: SubmitEvent) => {
    event.preventDefault();
    const chosen = new FormData(event.currentTarget as HTMLFormElement).getAll("scope");
    const scopes = SCOPES.filter((scope) => chosen.includes(scope));
    setMade((await run(() => sandbox.POST("/sandbox/tokens", { body: { scopes } }))).data);
  };
  return (
    <form class="card" onSubmit={create}>
      <fieldset class="row">
        <legend>Scopes</legend>
        {SCOPES.map((scope) => (
          <label key={scope} class="inline">
            <input type="checkbox" name="scope" value={scope} defaultChecked={scope === "refunds"} />
            {scope}
          </label>
        ))}
      </fieldset>
      <div class="row submit">
        <button type="submit" class="primary" disabled={busy}>
          Create token
        </button>
        {made && (
          <button type="button" onClick={() => choose(made.accessToken)}>
            Use the new token
          </button>
        )}
      </div>
      <ProblemText problem={problem} />
      {made && <ShownOnce label="The new access token." secret={made.accessToken} />}
    </form>
  );
}
