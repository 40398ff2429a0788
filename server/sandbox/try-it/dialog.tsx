import { useEffect, useRef, useState } from "preact/hooks";
import { getToken, MERCHANTS, setToken } from "../console/parts/api.ts";
import { pretty } from "../console/parts/format.ts";
import { type Call, type Received, sendCall } from "./send.ts";

const write = (body: unknown) => JSON.stringify(body, null, 2);

/** A call to change and send, with its response. The console shows the same merchant from then on. */
export function TryDialog({ call, close }: { call: Call; close: () => void }) {
  const { summary, method, path: samplePath, examples, before } = call;
  const dialog = useRef<HTMLDialogElement>(null);
  const [token, choose] = useState(getToken);
  const [path, setPath] = useState(samplePath);
  const [body, setBody] = useState(write(examples[0]?.body));
  const [busy, setBusy] = useState(false);
  const [received, setReceived] = useState<Received | "offline">();
  useEffect(() => dialog.current?.showModal(), []);
  const send = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setToken(token);
    const sent = { method, path, token, body: examples.length > 0 ? body : undefined };
    setReceived(await sendCall(call, sent).catch(() => "offline" as const));
    setBusy(false);
  };
  const tokens = { ...MERCHANTS, ...(!(token in MERCHANTS) && { [token]: `…${token.slice(-6)}` }) };
  return (
    <dialog ref={dialog} class="try-dialog" aria-labelledby="try-title" onClose={close}>
      <form onSubmit={send}>
        <header>
          <h2 id="try-title">{summary}</h2>
          <button type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </header>
        <label>
          Access token
          <select value={token} onChange={(event) => choose(event.currentTarget.value)}>
            {Object.entries(tokens).map(([value, name]) => (
              <option key={value} value={value}>
                {value in MERCHANTS ? `${value} (merchant ${name})` : `${name}, from the console`}
              </option>
            ))}
          </select>
        </label>
        <label>
          {method}
          <input value={path} spellcheck={false} onInput={(event) => setPath(event.currentTarget.value)} />
        </label>
        {before.length > 0 && (
          <p>
            {"If you keep the braces in the path, Send first creates the record: "}
            {before.map((step) => `${step.method} ${step.path}`).join(", ")}.
          </p>
        )}
        {examples.length > 1 && (
          <label>
            Example
            <select onChange={(event) => setBody(write(examples[event.currentTarget.selectedIndex]?.body))}>
              {examples.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        )}
        {examples.length > 0 && (
          <label>
            Body
            <textarea
              rows={body.split("\n").length + 1}
              spellcheck={false}
              value={body}
              onInput={(event) => setBody(event.currentTarget.value)}
            />
          </label>
        )}
        <button type="submit" class="send" disabled={busy}>
          Send
        </button>
      </form>
      <section role="status">
        {received === "offline" && <p class="bad">The sandbox does not respond. Is it still running?</p>}
        {received !== undefined && received !== "offline" && <Response received={received} />}
      </section>
    </dialog>
  );
}

function Response({
  received: { status, isSuccess, milliseconds, body, consoleUrl },
}: {
  received: Received;
}) {
  return (
    <>
      <p class="outcome">
        <strong class={isSuccess ? "good" : "bad"}>{status}</strong> {milliseconds} ms{" "}
        {/* biome-ignore lint/security/noBlankTarget: the console takes the access token from the tab that opens it */}
        <a href={consoleUrl} target="_blank" rel="opener">
          {consoleUrl === "/console" ? "Open the console" : "See this request in the console"}
        </a>
      </p>
      {body !== "" && <pre>{pretty(body)}</pre>}
    </>
  );
}
