import { PageHead, ProblemText } from "../ui/elements.tsx";
import { getToken, type Problem } from "../ui/sandbox-api.ts";

/** Chooses the merchant whose records are shown, by an access token. */
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
    </section>
  );
}

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
