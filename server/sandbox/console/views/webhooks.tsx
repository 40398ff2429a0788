import { useState } from "preact/hooks";
import type { components } from "../../../../openapi/generated/types.ts";
import { Action, Empty, Facts, Id, PageHead, ProblemText, ShownOnce, Status, Time } from "../ui/elements.tsx";
import { usePaged } from "../ui/paged-list.ts";
import { Fold, Form } from "../ui/request-form.tsx";
import {
  type Page,
  published,
  type Result,
  type SandboxSchemas,
  sandbox,
  useLoaded,
} from "../ui/sandbox-api.ts";
import { DeliveryList } from "./deliveries.tsx";
import { Inbox, newSecret } from "./inbox.tsx";

/** The subscriptions, the inbox and all deliveries of the merchant. */
export function Webhooks() {
  return (
    <section>
      <PageHead title="Webhooks" />
      <Subscriptions />
      <Inbox />
      <h2>Deliveries</h2>
      <DeliveryList
        of={{}}
        empty="No deliveries yet. An event is delivered to each subscription that includes it."
      />
    </section>
  );
}

type SubscriptionRecord = SandboxSchemas["SubscriptionRecord"];

const LIMIT = 100;

function Subscriptions() {
  const paged = usePaged<SubscriptionRecord>({
    key: "subscriptions",
    topics: ["webhooks"],
    load: (cursor) =>
      sandbox.GET("/sandbox/subscriptions", {
        params: { query: { limit: LIMIT, ...cursor } },
      }) as Promise<Result<Page<SubscriptionRecord>>>,
  });
  const { items, problem } = paged;
  return (
    <>
      <h2>Subscriptions</h2>
      <ProblemText problem={problem} />
      {items?.length === 0 && (
        <Empty>
          No subscriptions yet, so nothing receives your events. You can subscribe the inbox below to all of
          them.
        </Empty>
      )}
      {items?.map((subscription) => (
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
      {paged.hasMore && (
        <p>
          <button type="button" onClick={paged.more}>
            Show older subscriptions
          </button>
        </p>
      )}
      <div class="row folds">
        <Fold label="Subscribe your own server">
          <Subscribe />
        </Fold>
        <Fold label="Send a test event">
          <SendTest />
        </Fold>
      </div>
    </>
  );
}

const wants = ({ subscriptionDetails: { type, details } }: SubscriptionRecord) =>
  type === "ALL" ? "all events" : (details ?? []).join(", ");

const NEW_SECRET = { label: "New secret", make: newSecret };

function Subscribe() {
  const [secret, setSecret] = useState("");
  const subscribe = async (body: object) => {
    const request = body as components["schemas"]["SubscriptionRequest"];
    const subscribed = await published.POST("/v1/webhook/subscribe", { body: request });
    if (subscribed.data) setSecret(request.secretKey);
    return subscribed;
  };
  return (
    <>
      <Form
        form="SubscriptionRequest"
        submit="Subscribe"
        send={subscribe}
        fields={[
          { at: "/url", label: "url" },
          { at: "/secretKey", label: "secretKey", fresh: NEW_SECRET },
          { at: "/subscriptionDetails", label: "Events" },
        ]}
      />
      {secret !== "" && <ShownOnce label="Subscribed. Give your receiver its secret." secret={secret} />}
    </>
  );
}

function SendTest() {
  const [message, setMessage] = useState("");
  const send = async (body: object) => {
    const sent = await sandbox.POST("/sandbox/events", { body: body as SandboxSchemas["NewEvent"] });
    const { data } = sent;
    setMessage(data ? `Sent ${data.type} for ${data.resourceId}, with sequence ${data.sequence}.` : "");
    return sent;
  };
  return (
    <>
      <Form
        form="NewEvent"
        submit="Send event"
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
    <Action
      name={`End the subscription of ${url}`}
      call={() => sandbox.DELETE("/sandbox/subscriptions/{subscriptionKey}", { params })}
    >
      End
    </Action>
  );
}

/** The key of the signature, by how the secret was read. */
const SIGNED_BY = {
  BASE64: "the bytes that its secretKey encodes in base64",
  TEXT: "the text of its secretKey, because it is not whsec_ followed by base64",
};

function ChangeSecret({ subscriptionKey }: { subscriptionKey: string }) {
  const [secret, setSecret] = useState("");
  const change = async (body: object) => {
    const request = body as SandboxSchemas["NewSecret"];
    const params = { path: { subscriptionKey } };
    const changed = await sandbox.POST("/sandbox/subscriptions/{subscriptionKey}/rotate-secret", {
      params,
      body: request,
    });
    if (changed.data) setSecret(request.secretKey);
    return changed;
  };
  return (
    <>
      <Form
        form="NewSecret"
        submit="Change secret"
        send={change}
        fields={[
          { at: "/secretKey", label: "New secretKey", fresh: NEW_SECRET },
          { at: "/overlapHours", label: "Hours for which the old secret also signs", empty: "24 if empty" },
        ]}
      />
      {secret !== "" && <ShownOnce label="Changed. Give your receiver the new secret." secret={secret} />}
    </>
  );
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
                ["Signed with", data.secretForm && SIGNED_BY[data.secretForm]],
                [
                  "subscriptionKey",
                  <span key="key" class="id">
                    {data.subscriptionKey}
                  </span>,
                ],
                ["Since", <Time key="since" at={data.createdAt} />],
                ["Ended", data.endedAt ? <Time at={data.endedAt} /> : null],
                ["Warning", data.secretWarning],
                [
                  "Old secret also signs until",
                  data.oldSecretUntil ? <Time at={data.oldSecretUntil} /> : null,
                ],
              ]}
            />
          </div>
          {!data.endedAt && (
            <div class="row folds">
              <Fold label="Change the secret">
                <ChangeSecret subscriptionKey={subscriptionKey} />
              </Fold>
            </div>
          )}
          <h2>Deliveries</h2>
          <DeliveryList of={{ subscriptionKey }} empty="No deliveries yet." />
        </>
      )}
    </section>
  );
}
