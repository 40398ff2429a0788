import { useState } from "preact/hooks";
import type { components } from "../../../../openapi/generated/types.ts";
import { type Problem, published, type SandboxSchemas, sandbox, useLoaded } from "../data/api.ts";
import { VERIFY } from "../data/contract.ts";
import { count } from "../data/format.ts";
import { Fold, Form } from "../parts/form.tsx";
import { Body, Empty, Facts, Id, PageHead, ProblemText, Status, Time } from "../parts/parts.tsx";
import { DeliveryList } from "./deliveries.tsx";
import { Inbox } from "./inbox.tsx";

type SubscriptionRecord = SandboxSchemas["SubscriptionRecord"];

/** The largest page of the contract; a merchant has few subscriptions that are live. */
const LIMIT = 100;

export function Webhooks() {
  return (
    <section>
      <PageHead title="Webhooks" />
      <Subscriptions />
      <Inbox />
      <h2>Deliveries</h2>
      <DeliveryList
        of={{}}
        empty="No deliveries. An event is delivered to each subscription that wants it."
      />
    </section>
  );
}

function Subscriptions() {
  const { data, problem } = useLoaded("subscriptions", ["webhooks"], () =>
    sandbox.GET("/sandbox/subscriptions", { params: { query: { limit: LIMIT } } }),
  );
  return (
    <>
      <h2>Subscriptions</h2>
      <ProblemText problem={problem} />
      {data?.items.length === 0 && (
        <Empty>
          Nobody receives your events. The button of the inbox below subscribes it to all of them.
        </Empty>
      )}
      {data?.items.map((subscription) => (
        <article key={subscription.subscriptionKey} class="card row">
          <Status value={subscription.endedAt ? "ENDED" : "LIVE"} />
          <span class="grow">
            <bdi class="url">{subscription.url}</bdi>
            <Id view="subscriptions" id={subscription.subscriptionKey} />
          </span>
          <span class="quiet">{wants(subscription)}</span>
          {subscription.secretWarning && <span class="quiet">weak secret</span>}
          <End subscription={subscription} />
        </article>
      ))}
      <div class="row folds">
        <Fold label="Subscribe your own server">
          <Form
            form="SubscriptionRequest"
            submit="Subscribe"
            send={subscribe}
            fields={[
              { at: "/url", label: "url" },
              { at: "/secretKey", label: "secretKey" },
              { at: "/subscriptionDetails", label: "Events" },
            ]}
          />
        </Fold>
        <Fold label="Send a test event">
          <SendTest />
        </Fold>
        <Fold label="How to verify a delivery">
          <Body label="With the client of this service" text={VERIFY} />
        </Fold>
      </div>
    </>
  );
}

const wants = ({ subscriptionDetails: { type, details } }: SubscriptionRecord) =>
  type === "ALL" ? "all events" : (details ?? []).join(", ");

async function subscribe(body: object): Promise<Problem | undefined> {
  const { error } = await published.POST("/v1/webhook/subscribe", {
    body: body as components["schemas"]["SubscriptionRequest"],
  });
  return error as Problem | undefined;
}

function SendTest() {
  const [message, setMessage] = useState("");
  const send = async (body: object) => {
    const { data, error } = await sandbox.POST("/sandbox/events", {
      body: body as SandboxSchemas["NewEvent"],
    });
    setMessage(data ? `Emitted ${data.type} number ${data.sequence} of ${data.resourceId}.` : "");
    return error as Problem | undefined;
  };
  return (
    <>
      <Form
        form="NewEvent"
        submit="Send the event"
        send={send}
        fields={[
          { at: "/type", label: "Event" },
          { at: "/resourceId", label: "Account or customer", value: "acc_from_console" },
        ]}
      />
      <p role="status">{message}</p>
    </>
  );
}

function End({ subscription: { subscriptionKey, url, endedAt } }: { subscription: SubscriptionRecord }) {
  if (endedAt) return null;
  const params = { path: { subscriptionKey } };
  return (
    <button
      type="button"
      aria-label={`End the subscription of ${url}`}
      onClick={() => sandbox.DELETE("/sandbox/subscriptions/{subscriptionKey}", { params })}
    >
      End
    </button>
  );
}

/** The bytes that sign, by how the secret was read. */
const SIGNED_BY = {
  BASE64: "the bytes that the base64 of its secretKey stands for",
  TEXT: "the text of its secretKey, because it isn't whsec_ and base64",
};

async function changeSecret(subscriptionKey: string, body: object): Promise<Problem | undefined> {
  const { error } = await sandbox.POST("/sandbox/subscriptions/{subscriptionKey}/rotate-secret", {
    params: { path: { subscriptionKey } },
    body: body as SandboxSchemas["NewSecret"],
  });
  return error as Problem | undefined;
}

/** One subscription with its deliveries. */
export function Subscription({ subscriptionKey }: { subscriptionKey: string }) {
  const { data, problem } = useLoaded(`subscription ${subscriptionKey}`, ["webhooks"], () =>
    sandbox.GET("/sandbox/subscriptions/{subscriptionKey}", { params: { path: { subscriptionKey } } }),
  );
  return (
    <section>
      <PageHead up={{ view: "webhooks", label: "Webhooks" }} title="Subscription">
        {data && <End subscription={data as SubscriptionRecord} />}
      </PageHead>
      <ProblemText problem={problem} />
      {data && (
        <>
          <div class="card">
            <Facts
              facts={[
                ["State", <Status key="state" value={data.endedAt ? "ENDED" : "LIVE"} />],
                ["url", <bdi key="url">{data.url}</bdi>],
                ["Receives", wants(data as SubscriptionRecord)],
                ["Signed by", data.secretForm && SIGNED_BY[data.secretForm]],
                [
                  "subscriptionKey",
                  <span key="key" class="id">
                    {data.subscriptionKey}
                  </span>,
                ],
                ["Since", <Time key="since" at={data.createdAt} />],
                ["Ended", data.endedAt ? <Time at={data.endedAt} /> : null],
                ["Secret", data.secretWarning],
                ["Old secret signs until", data.oldSecretUntil ? <Time at={data.oldSecretUntil} /> : null],
              ]}
            />
          </div>
          {!data.endedAt && (
            <div class="row folds">
              <Fold label="Change the secret">
                <Form
                  form="NewSecret"
                  submit="Change it"
                  send={(body) => changeSecret(subscriptionKey, body)}
                  fields={[
                    { at: "/secretKey", label: "New secretKey" },
                    { at: "/overlapHours", label: "Hours for which the old one signs, too", empty: "24" },
                  ]}
                />
              </Fold>
            </div>
          )}
          <h2>Deliveries</h2>
          <DeliveryList
            of={{ subscriptionKey }}
            empty={`Nothing was sent to it: ${count(0, "delivery", "deliveries")}.`}
          />
        </>
      )}
    </section>
  );
}
