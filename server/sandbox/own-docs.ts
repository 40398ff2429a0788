import type { AdaptText } from "../http/pages.ts";

/** The address with which the contract, the guides and the samples are written. */
const WRITTEN_ADDRESS = "http://127.0.0.1:3000";

/** A name or an address with its port, and nothing that could end an attribute or a string of the page. */
const HOST = /^([\w.-]+|\[[\da-f:.]+\])(:\d+)?$/i;

/** Where a page has room for what only a sandbox has: the link to its console. */
const CONSOLE_LINK = "<!-- console -->";

/**
 * Makes the docs and the contract name the address at which they are read, and link to the console. The reference also gets
 * the script that sends its samples.
 */
export function adaptDocs(tryItScript: string | undefined): AdaptText {
  return (text, fileName, { headers: { host = "" } }) => {
    const here = HOST.test(host) ? text.replaceAll(WRITTEN_ADDRESS, `http://${host}`) : text;
    if (!fileName.endsWith(".html")) return here;
    const linked = here.replace(CONSOLE_LINK, '<a href="/console">Console</a>');
    if (fileName !== "reference.html" || tryItScript === undefined) return linked;
    const end = linked.lastIndexOf("</body>");
    return `${linked.slice(0, end)}<script type="module" src="/console/${tryItScript}"></script>\n${linked.slice(end)}`;
  };
}
