import { useState } from "preact/hooks";
import { Action, Body, Code, Copy, Facts, PageHead, RealTime, Resource, toHash } from "../ui/elements.tsx";
import { quote } from "../ui/format-values.ts";
import { useFilter } from "../ui/list-filters.tsx";
import { usePaged } from "../ui/paged-list.ts";
import { List } from "../ui/record-list.tsx";
import { getToken, published, type SandboxSchemas, sandbox } from "../ui/sandbox-api.ts";

/** Every request to the published contract, newest first, live; the link of a request shows all of it. */
export function Requests({ search }: { search: string }) {
  const [{ status }, change] = useFilter(STATUSES);
  const query = { limit: LIMIT, ...(search && { search }), ...(status && { status: Number(status) }) };
  const paged = usePaged<Recorded>({
    key: `requests ${JSON.stringify(query)}`,
    topics: ["requests"],
    load: (cursor) => sandbox.GET("/sandbox/requests", { params: { query: { ...query, ...cursor } } }),
  });
  const [only] = paged.items ?? [];
  if (INSTANCE.test(search) && only) return <Request recorded={only} />;
  return (
    <section>
      <PageHead title="Requests" />
      <search>
        <form class="row" onSubmit={find}>
          <label class="inline">
            <span>Response</span>
            <select
              value={status ?? ""}
              onChange={({ currentTarget: { value } }) => change(value === "" ? {} : { status: value })}
            >
              <option value="">any</option>
              {STATUSES.map((status) => (
                <option key={status}>{status}</option>
              ))}
            </select>
          </label>
          <label class="inline grow">
            <span>requestKey, paymentId or instance</span>
            <input name="search" type="search" defaultValue={search} maxLength={255} />
          </label>
          <button type="submit">Find</button>
        </form>
      </search>
      <List
        name="Requests"
        paged={paged}
        idOf={idOf}
        empty={
          search === "" && status === undefined
            ? "No requests yet. Issue a refund here, from your server or with curl, and watch it arrive."
            : "No matching requests. The sandbox remembers only the latest thousand, until it stops."
        }
        columns={[
          {
            head: "Request",
            kind: "main",
            cell: ({ operation, path, requestId, requestKey }) => (
              <>
                <a href={toHash("requests", requestId)}>{operation ?? path}</a>
                {requestKey !== null && <bdi class="quiet reference">{requestKey}</bdi>}
              </>
            ),
          },
          { head: "Response", kind: "short", cell: ({ status }) => <Code status={status} /> },
          {
            head: "Error",
            kind: "reason",
            cell: ({ responseBody, fault }) =>
              fault === null ? problemOf(responseBody)?.code : <a href="#/faults">Fault {fault}</a>,
          },
          { head: "Took", kind: "number", cell: ({ milliseconds }) => `${milliseconds} ms` },
          { head: "Received (UTC)", kind: "time", cell: ({ at }) => <RealTime at={at} /> },
        ]}
      />
    </section>
  );
}

type Recorded = SandboxSchemas["RequestRecord"];

const LIMIT = 100;
const INSTANCE = /^urn:uuid:/;

/** The statuses of the published contract, and that of the fault `BAD_GATEWAY`. */
const STATUSES = "200 201 400 401 403 404 406 408 409 413 415 429 500 502 503".split(" ");

const idOf = ({ requestId }: Recorded) => requestId;

function find(event: SubmitEvent): void {
  event.preventDefault();
  const text = String(new FormData(event.currentTarget as HTMLFormElement).get("search") ?? "");
  const query = location.hash.split("?")[1];
  location.hash = `${text === "" ? "#/requests" : toHash("requests", text)}${query ? `?${query}` : ""}`;
}

function Request({ recorded }: { recorded: Recorded }) {
  const {
    operation,
    path,
    status,
    milliseconds,
    requestBody,
    responseBody,
    requestId,
    paymentId,
    requestKey,
    at,
    fault,
  } = recorded;
  const problem = problemOf(responseBody);
  return (
    <section>
      <PageHead up={{ view: "requests", label: "Requests" }} title={operation ?? path}>
        {requestBody !== null && !requestBody.includes(HIDDEN) && (
          <>
            {operation === "issueRefund" && <Repeat body={requestBody} />}
            <Copy label="Copy as curl" text={toCurl(path, requestBody)} />
          </>
        )}
      </PageHead>
      <div class="card">
        <p class="row lead">
          <Code status={status} />
          {problem && <strong>{problem.code}</strong>}
        </p>
        {problem?.existing !== undefined && (
          <p>
            This requestKey was used before. The first request made <Resource id={problem.existing} />, and
            nothing was refunded twice.
          </p>
        )}
        {problem && <Violations of={problem.violations} />}
        <Facts
          facts={[
            ["Path", `POST ${path}`],
            ["Fault", fault && <a href="#/faults">{fault}</a>],
            ["requestKey", requestKey !== null ? <bdi>{requestKey}</bdi> : null],
            ["Record", paymentId !== null ? <Resource id={paymentId} /> : null],
            [
              "instance",
              <span key="instance" class="id">
                {requestId}
              </span>,
            ],
            ["Received (UTC)", <RealTime key="at" at={at} />],
            ["Took", `${milliseconds} ms`],
          ]}
        />
      </div>
      <div class="columns">
        <Body label="Request" text={requestBody} />
        <Body label="Response" text={responseBody} />
      </div>
    </section>
  );
}

type Violation = { pointer: string; message: string };

function Violations({ of: violations }: { of: readonly Violation[] }) {
  if (violations.length === 0) return null;
  return (
    <ul>
      {violations.map(({ pointer, message }) => (
        <li key={pointer}>
          <code>{pointer || "body"}</code> {message}
        </li>
      ))}
    </ul>
  );
}

/** The error that a response reports, including that of a failed refund; undefined when there is none. */
function problemOf(responseBody: string | null) {
  try {
    const {
      errorDetails,
      violations = [],
      existing,
    } = JSON.parse(responseBody ?? "{}") as {
      errorDetails?: { errorCode: string };
      violations?: Violation[];
      existing?: { paymentId: string };
    };
    return errorDetails && { code: errorDetails.errorCode, violations, existing: existing?.paymentId };
  } catch {
    return undefined; // truncated, because it was too long to keep
  }
}

/** The value in a body whose secret was not kept, so that it can't be sent again. */
const HIDDEN = '"[hidden]"';

function toCurl(path: string, body: string): string {
  const headers = [
    `Authorization: Bearer ${getToken()}`,
    "Content-Type: application/json",
    "Accept: application/json",
  ];
  const parts = headers.map((header) => `-H ${quote(header)}`);
  return `curl -i ${location.origin}${path} ${parts.join(" ")} -d ${quote(body)}`;
}

/** Sends the same text again. */
function Repeat({ body }: { body: string }) {
  const [message, setMessage] = useState("");
  const repeat = async () => {
    const sent = { body: JSON.parse(body), bodySerializer: () => body };
    const repeated = await published.POST("/v1/refunds", sent);
    setMessage(repeated.data ? `Repeated: ${repeated.response.status}` : "");
    return repeated;
  };
  return (
    <>
      <span role="status">{message}</span>
      <Action call={repeat}>Repeat</Action>
    </>
  );
}
