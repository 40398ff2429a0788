import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { followChanges, getToken, sandbox, setToken, useOnline } from "./data/api.ts";
import { Access } from "./views/access.tsx";
import { Clock } from "./views/clock.tsx";
import { Delivery } from "./views/deliveries.tsx";
import { Event, Events } from "./views/events.tsx";
import { Payment } from "./views/payment.tsx";
import { Payments } from "./views/payments.tsx";
import { Requests } from "./views/requests.tsx";
import { RestrictionsNotice } from "./views/restrictions.tsx";
import { Scenarios } from "./views/scenarios.tsx";
import { Subscription, Webhooks } from "./views/webhooks.tsx";

const VIEWS = {
  payments: "Payments",
  requests: "Requests",
  events: "Events",
  webhooks: "Webhooks",
  scenarios: "Scenarios",
};

/** The view of the menu that a record belongs to. */
const MENU: Readonly<Record<string, string>> = {
  about: "events",
  deliveries: "webhooks",
  subscriptions: "webhooks",
};

/** The merchants of every sandbox, by their access tokens. */
const MERCHANTS = { sandbox_acme: "acme", sandbox_globex: "globex" };

type Route = { view: string; id: string };

/** The parts of an address such as `#/payments/pay_settled`. */
function readRoute(): Route {
  const [, view = "", ...rest] = location.hash.split("/");
  return { view: view || "payments", id: decode(rest.join("/")) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function useRoute(): Route {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const change = () => {
      setRoute(readRoute());
      scrollTo(0, 0);
      document.querySelector("main")?.focus({ preventScroll: true });
    };
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  return route;
}

function View({ route: { view, id }, choose }: { route: Route; choose: (token: string) => void }) {
  switch (view) {
    case "requests":
      return <Requests search={id} />;
    case "events":
      return id === "" ? <Events resourceId="" /> : <Event eventId={id} />;
    case "about":
      return <Events resourceId={id} />;
    case "webhooks":
      return <Webhooks />;
    case "subscriptions":
      return <Subscription subscriptionKey={id} />;
    case "deliveries":
      return <Delivery webhookId={id} />;
    case "scenarios":
      return <Scenarios />;
    case "access":
      return <Access choose={choose} />;
    default:
      return id === "" ? <Payments /> : <Payment paymentId={id} />;
  }
}

function Merchant({ token, choose }: { token: string; choose: (token: string) => void }) {
  const isKnown = token in MERCHANTS;
  const reset = async () => {
    if (confirm("Remove this merchant's payments, refunds, events and subscriptions?")) {
      await sandbox.POST("/sandbox/reset");
    }
  };
  return (
    <div class="row merchant">
      <label class="inline">
        <span>Merchant</span>
        <select value={token} onChange={(event) => choose(event.currentTarget.value)}>
          {Object.entries(MERCHANTS).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
          {!isKnown && <option value={token}>…{token.slice(-6)}</option>}
        </select>
      </label>
      <a href="#/access">Access tokens</a>
      <button type="button" onClick={reset}>
        Reset
      </button>
    </div>
  );
}

function App() {
  const route = useRoute();
  const online = useOnline();
  const [token, setChosen] = useState(getToken);
  const choose = (next: string) => {
    setToken(next);
    setChosen(next);
  };
  const current = MENU[route.view] ?? route.view;
  return (
    <>
      <header class="top">
        <button type="button" class="skip" onClick={() => document.querySelector("main")?.focus()}>
          Skip to content
        </button>
        <strong class="title">Sandbox</strong>
        <nav aria-label="Views">
          {Object.entries(VIEWS).map(([name, label]) => (
            <a key={name} href={`#/${name}`} aria-current={name === current ? "page" : undefined}>
              {label}
            </a>
          ))}
        </nav>
        <Merchant token={token} choose={choose} />
      </header>
      <p role="status" class={online ? "offline hidden" : "offline"}>
        {online ? "" : "Offline: the sandbox does not respond. Reconnecting…"}
      </p>
      <main tabIndex={-1} key={token}>
        <RestrictionsNotice />
        <Clock />
        <View route={route} choose={choose} key={`${route.view}/${route.id}`} />
      </main>
    </>
  );
}

const root = document.getElementById("root");
if (root) render(<App />, root);
followChanges();
