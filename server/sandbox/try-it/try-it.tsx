import { render } from "preact";
import { TryDialog } from "./dialog.tsx";
import type { Call } from "./send.ts";

/* Runs in the reference of a sandbox, which is Redoc's page: adds a button to each sample that sends it. */

/** Every call that has a sample. The build inserts them (`scripts/pages/build-console.ts`). */
declare const CALLS: readonly Call[];
declare const STYLE: string;

const root = document.createElement("div");
document.body.append(root);
const style = document.createElement("style");
style.textContent = STYLE;
document.head.append(style);

/** Redoc draws a part when the reader comes near it, and may draw it again. */
function addButtons(): void {
  for (const call of CALLS) {
    const panel = document.getElementById(call.route)?.querySelector(".panel-request-samples");
    if (!panel || panel.querySelector(".try-button")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "try-button";
    button.textContent = "Try it";
    button.setAttribute("aria-label", `Try it: ${call.summary}`);
    button.addEventListener("click", () => open(call));
    panel.append(button);
  }
}

function open(call: Call): void {
  const close = () => render(null, root);
  render(<TryDialog call={call} close={close} />, root);
}

addButtons();
const reference = document.getElementById("redoc");
if (reference) new MutationObserver(addButtons).observe(reference, { childList: true, subtree: true });
