import { useState } from "preact/hooks";
import { getToken, type Problem, type SandboxSchemas, sandbox } from "../data/api.ts";
import { Copy, PageHead, ProblemText } from "../parts/parts.tsx";
import { RestrictionsForm } from "./restrictions.tsx";

const SCOPES = ["refunds", "webhooks"] as const;

/** Chooses the merchant whose records are shown, shows its access token, and creates tokens with fewer scopes. */
export function Access({ choose }: { choose: (token: string) => void }) {
  return (
    <section>
      <PageHead title="Access" />
      <p class="quiet">
        The access token says which merchant you are. Those of acme and globex are always there and public
        knowledge; this tab remembers the one in use until it is closed.
      </p>
      <h2>Use another access token</h2>
      <form
        class="form card"
        onSubmit={(event) => {
          event.preventDefault();
          const token = String(new FormData(event.currentTarget).get("token") ?? "").trim();
          if (token !== "") choose(token);
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
            required
          />
        </div>
        <div class="row submit">
          <button type="submit" class="primary">
            Use it
          </button>
        </div>
      </form>
      <h2>Create a restricted token</h2>
      <NewToken choose={choose} />
      <h2>Be blocked or held</h2>
      <RestrictionsForm />
    </section>
  );
}

function NewToken({ choose }: { choose: (token: string) => void }) {
  const [made, setMade] = useState<SandboxSchemas["Token"]>();
  const [problem, setProblem] = useState<Problem>();
  const create = async (event: SubmitEvent) => {
    event.preventDefault();
    const chosen = new FormData(event.currentTarget as HTMLFormElement).getAll("scope");
    const scopes = SCOPES.filter((scope) => chosen.includes(scope));
    const { data, error } = await sandbox.POST("/sandbox/tokens", { body: { scopes } });
    setMade(data);
    setProblem(error as Problem | undefined);
  };
  return (
    <form class="card" onSubmit={create}>
      <fieldset class="row">
        <legend>What it may do</legend>
        {SCOPES.map((scope) => (
          <label key={scope} class="inline">
            <input type="checkbox" name="scope" value={scope} defaultChecked={scope === "refunds"} />
            {scope}
          </label>
        ))}
      </fieldset>
      <div class="row submit">
        <button type="submit" class="primary">
          Make a token
        </button>
      </div>
      <ProblemText problem={problem} />
      {made && (
        <p class="row" role="status">
          <code>{made.accessToken}</code>
          <Copy label="Copy" of="the token" text={made.accessToken} />
          <button type="button" class="small" onClick={() => choose(made.accessToken)}>
            Use it
          </button>
        </p>
      )}
    </form>
  );
}
