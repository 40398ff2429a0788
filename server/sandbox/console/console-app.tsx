import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Action } from "./ui/elements.tsx";
import {
  type Connection,
  followChanges,
  getToken,
  MERCHANTS,
  type Problem,
  sandbox,
  setToken,
  useConnection,
} from "./ui/sandbox-api.ts";
import { applyTheme, SiteHeader } from "./ui/site-header.tsx";
import { Access, Refused } from "./views/access.tsx";
import { Clock } from "./views/clock.tsx";
import { Delivery } from "./views/deliveries.tsx";
import { Event, Events } from "./views/events.tsx";
import { Faults } from "./views/faults.tsx";
import { Payment } from "./views/payment.tsx";
import { Payments } from "./views/payments.tsx";
import { Refunds } from "./views/refunds.tsx";
import { Requests } from "./views/requests.tsx";
import { Subscription, Webhooks } from "./views/webhooks.tsx";

/** The whole page: the bars at the top, the clock, and the view that the address names, such as `#/payments`. */
function App() {
  const route = useRoute();
  const connection = useConnection();
  const [token, setChosen] = useState(getToken);
  const choose = (next: string) => {
    setToken(next);
    setChosen(next);
  };
  const refused = isRefused(connection) ? connection : undefined;
  const trouble = refused ? "" : describeTrouble(connection);
  return (
    <>
      <Header route={route} token={token} choose={choose} />
      <p role="status" class={trouble === "" ? "offline hidden" : "offline"}>
        {trouble}
      </p>
      <main tabIndex={-1} key={token}>
        {refused ? (
          <Refused problem={refused} choose={choose} />
        ) : (
          <>
            <Clock />
            <View route={route} choose={choose} key={route.hash} />
          </>
        )}
      </main>
    </>
  );
}

const VIEWS = {
  payments: "Payments",
  refunds: "Refunds",
  requests: "Requests",
  events: "Events",
  webhooks: "Webhooks",
  faults: "Faults",
};

/** The view of the menu that a record belongs to. */
const MENU: Readonly<Record<string, string>> = {
  about: "events",
  deliveries: "webhooks",
  subscriptions: "webhooks",
};

type Route = { view: string; id: string; hash: string };

/** The parts of an address such as `#/payments/pay_settled`. */
function readRoute(): Route {
  const { hash } = location;
  const [, view = "", ...rest] = (hash.split("?")[0] ?? "").split("/");
  return { view: view || "payments", id: decode(rest.join("/")), hash };
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
    case "faults":
      return <Faults />;
    case "refunds":
      return id === "" ? <Refunds /> : <Payment paymentId={id} />;
    case "access":
      return <Access choose={choose} />;
    default:
      return id === "" ? <Payments /> : <Payment paymentId={id} />;
  }
}

const RESET = "Reset? This removes this merchant's payments, refunds, events, requests and subscriptions.";

function Merchant({ token, choose }: { token: string; choose: (token: string) => void }) {
  const isKnown = token in MERCHANTS;
  const reset = async () => (confirm(RESET) ? sandbox.POST("/sandbox/reset") : {});
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
      <a href="#/access">Access</a>
      <Action call={reset}>Reset</Action>
    </div>
  );
}

const isRefused = (connection: Connection): connection is Problem =>
  typeof connection === "object" && connection.status === 401;

function describeTrouble(connection: Connection): string {
  if (connection === "online") return "";
  if (connection === "offline") return "Offline: the sandbox does not respond. Reconnecting…";
  return `${connection.status} ${connection.errorDetails.errorCode}: ${connection.detail} Reconnecting…`;
}

function Header({ route, token, choose }: { route: Route; token: string; choose: (token: string) => void }) {
  const current = MENU[route.view] ?? route.view;
  // On a phone the menu is folded until it is opened, and after each choice.
  const [openAt, setOpenAt] = useState<string>();
  const open = openAt === route.hash;
  return (
    <header>
      <button type="button" class="skip" onClick={() => document.querySelector("main")?.focus()}>
        Skip to content
      </button>
      <SiteHeader />
      <div class={open ? "top open" : "top"}>
        <strong class="title">Sandbox</strong>
        <button
          type="button"
          class="toggle"
          aria-expanded={open}
          aria-controls="menu"
          onClick={() => setOpenAt(open ? undefined : route.hash)}
        >
          Menu
        </button>
        <div class="menu" id="menu">
          <nav aria-label="Views">
            {Object.entries(VIEWS).map(([name, label]) => (
              <a key={name} href={`#/${name}`} aria-current={name === current ? "page" : undefined}>
                {label}
              </a>
            ))}
          </nav>
          <Merchant token={token} choose={choose} />
        </div>
      </div>
    </header>
  );
}

applyTheme();
const root = document.getElementById("root");
if (root) render(<App />, root);
followChanges();
