export interface paths {
    "/sandbox/payments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List payments and refunds
         * @description Your records, newest first.
         */
        get: operations["listPayments"];
        put?: never;
        /**
         * Create an original payment
         * @description Creates an original payment to refund, as if the payment call had been made. Its status is `SETTLED` unless you say otherwise.
         */
        post: operations["createPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/payments/{paymentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a payment or refund
         * @description One of your records, with all that is stored of it.
         */
        get: operations["getPayment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/payments/{paymentId}/settle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Settle an original payment
         * @description The payment settles, now or at the time given. Its waiting refunds become due three business days later.
         */
        post: operations["settlePayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/payments/{paymentId}/fail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fail an original payment
         * @description The debit fails, before or after it settled. Its refunds fail with `CUSTOMER_NOT_DEBITED`.
         */
        post: operations["failPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/payments/{paymentId}/cover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cover an original payment
         * @description The settled payment falls into the service's cover. Its refunds fail with `PAYMENT_COVERED`.
         */
        post: operations["coverPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/clock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the clock
         * @description The time that the sandbox believes it is.
         */
        get: operations["getClock"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/clock/advance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Advance the clock
         * @description Moves the clock forward, for all merchants, and answers when every refund that fell due has been authorized. Name one way: a time, a duration, or business days. Calls in parallel take their turn.
         */
        post: operations["advanceClock"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries
         * @description What was sent to your subscriptions, or is to be, newest first, with every attempt.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/deliveries/{webhookId}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again
         * @description Sends a delivery once more, with the same `webhook-id`.
         */
        post: operations["redeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/subscriptions/{subscriptionKey}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a subscription
         * @description Nothing more is sent to it.
         */
        delete: operations["endSubscription"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Emit an account or customer event
         * @description Emits an event that no operation of this service emits, so that every category can be received.
         */
        post: operations["emitEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an access token
         * @description Creates another access token of the same merchant, with the scopes given.
         */
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reset your data
         * @description Your payments, refunds, events and subscriptions go, and the records that are always there come back. Access tokens and the clock stay.
         */
        post: operations["resetSandbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description An amount of money. */
        Amount: {
            /**
             * @description ISO 4217 code of the currency.
             * @enum {string}
             */
            currency: "USD";
            /**
             * @description Dollars, as a JSON number with at most two digits after the point. `10`, `10.0` and `10.00` are accepted; `10.000`,
             *     `1e1` and `"10.00"` are not.
             */
            value: number;
        };
        /**
         * @description Where an original payment stands. `FAILED` and `COVERED` are final.
         * @enum {string}
         */
        OriginalStatus: "PROCESSING" | "SETTLED" | "FAILED" | "COVERED";
        /** @description What is left of an original payment when all its refunds that have not failed are taken off. */
        RemainingAmount: {
            /**
             * @description ISO 4217 code of the currency.
             * @enum {string}
             */
            currency: "USD";
            /** @description Dollars. */
            value: number;
        };
        /** @description A status that an original payment took. */
        StatusChange: {
            status: components["schemas"]["OriginalStatus"];
            /**
             * Format: date-time
             * @description When it took it.
             */
            at: string;
        };
        /** @description An original payment, as it is stored. */
        Debit: {
            /**
             * @description Tells an original payment from a refund. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "DEBIT";
            /** @description Identifier of the payment. */
            paymentId: string;
            amount: components["schemas"]["Amount"];
            status: components["schemas"]["OriginalStatus"];
            /**
             * Format: date-time
             * @description When it settled.
             */
            settledAt: string | null;
            /** @description The key of the call that made it. */
            requestKey: string | null;
            /** @description The merchant's own identifier. */
            clientReferenceId: string | null;
            refundableAmount: components["schemas"]["RemainingAmount"];
            /** @description Every status that it took, oldest first. */
            history: components["schemas"]["StatusChange"][];
        };
        /** @description Why the refund failed. Present when `paymentStatus` is `TERMINAL_FAILED`, and only then. */
        RefundErrorDetails: {
            /**
             * @description The reason, for programs. The list may grow: treat a code that you do not know as a failure like the others.
             *
             *     | code | meaning |
             *     |---|---|
             *     | `PAYMENT_NOT_REFUNDABLE` | The payment is itself a refund. |
             *     | `CUSTOMER_NOT_DEBITED` | The original debit was not successful. |
             *     | `PAYMENT_COVERED` | The original payment fell into the service's cover. |
             *     | `AMOUNT_EXCEEDS_REFUNDABLE` | The amount is more than what is left of the original payment. |
             */
            errorCode: string;
            /** @description The reason, for people. Its wording may change. */
            errorMessage: string;
        };
        /** @description Identifier that the service generated for the refund payment. It is not the identifier of the original payment. */
        RefundPaymentId: string;
        /**
         * @description Where the refund stands. The failure state, called `FAILED` in the interface's text, has the one name `TERMINAL_FAILED`
         *     everywhere; it is final.
         * @enum {string}
         */
        RefundStatus: "PENDING" | "AUTHORIZED" | "TERMINAL_FAILED";
        /** @description The `clientReferenceId` of the request, or `null` when it had none. */
        ReturnedReference: string | null;
        /** @description A status that a refund took. */
        RefundStatusChange: {
            paymentStatus: components["schemas"]["RefundStatus"];
            /**
             * Format: date-time
             * @description When it took it.
             */
            at: string;
        };
        /** @description A refund, as it is stored. */
        RefundRecord: {
            /**
             * @description Tells a refund from an original payment. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "REFUND";
            paymentId: components["schemas"]["RefundPaymentId"];
            amount: components["schemas"]["Amount"];
            status: components["schemas"]["RefundStatus"];
            paymentStatus: components["schemas"]["RefundStatus"];
            /** @description Identifier of the payment that it gives back. */
            originalPaymentId: string;
            clientReferenceId: components["schemas"]["ReturnedReference"];
            /** @description The text for the receiving bank. */
            softDescriptor: string | null;
            /** @description The key of the call that made it. */
            requestKey: string;
            errorDetails?: components["schemas"]["RefundErrorDetails"];
            /** @description Every status that it took, oldest first. */
            history: components["schemas"]["RefundStatusChange"][];
        };
        /** @description An original payment or a refund. */
        PaymentRecord: components["schemas"]["Debit"] | components["schemas"]["RefundRecord"];
        /** @description A page of records. */
        PaymentPage: {
            /** @description The records, newest first. */
            items: components["schemas"]["PaymentRecord"][];
            /** @description Give it as `cursor` to get the next page; `null` on the last one. */
            nextCursor: string | null;
        };
        /**
         * Format: uri
         * @description The kind of problem, one for each `errorCode`.
         */
        ProblemType: string;
        /** @description The kind of problem in a few words, the same for every problem of its kind. */
        ProblemTitle: string;
        /** @description The HTTP status of this answer. */
        ProblemStatus: number;
        /** @description What is wrong with this call, and what to do about it. */
        ProblemDetail: string;
        /**
         * Format: uri
         * @description Identifies this one answer, as `urn:uuid:` and the id of the request. Give it to us when you ask about it.
         */
        ProblemInstance: string;
        /** @description The reason, where a reader of a failed refund finds it as well. */
        ProblemErrorDetails: {
            /**
             * @description The reason, for programs. The list is closed.
             *
             *     | code | status | meaning |
             *     |---|---|---|
             *     | `INVALID_REQUEST` | 400 | The body is not what this contract asks for; see `violations`. |
             *     | `UNAUTHORIZED` | 401 | The access token is missing, unknown or expired. |
             *     | `FORBIDDEN` | 403 | The access token lacks the scope. |
             *     | `NOT_FOUND` | 404 | You have no such payment, or there is no such path. |
             *     | `METHOD_NOT_ALLOWED` | 405 | The path takes another method; see `Allow`. |
             *     | `NOT_ACCEPTABLE` | 406 | `Accept` admits no JSON. |
             *     | `REQUEST_TIMEOUT` | 408 | The body came too slowly. |
             *     | `DUPLICATE_REQUEST_KEY` | 409 | A payment record holds this `requestKey` already; see `existing`. |
             *     | `SUBSCRIPTION_LIMIT` | 409 | You have 100 live subscriptions. |
             *     | `PAYLOAD_TOO_LARGE` | 413 | The body is larger than 64 KiB. |
             *     | `UNSUPPORTED_MEDIA_TYPE` | 415 | The body is not plain UTF-8 JSON. |
             *     | `RATE_LIMITED` | 429 | Too many calls; see `Retry-After`. |
             *     | `INTERNAL_ERROR` | 500 | Our fault. |
             *     | `UNAVAILABLE` | 503 | We can't serve the call now; see `Retry-After`. |
             * @enum {string}
             */
            errorCode: "INVALID_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "NOT_ACCEPTABLE" | "REQUEST_TIMEOUT" | "DUPLICATE_REQUEST_KEY" | "SUBSCRIPTION_LIMIT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RATE_LIMITED" | "INTERNAL_ERROR" | "UNAVAILABLE";
            /** @description The reason, for people. Its wording may change. */
            errorMessage: string;
        };
        /** @description One fault of a body. */
        Violation: {
            /**
             * @description JSON Pointer (RFC 6901) to the field that is wrong: a missing field where it should stand, an unknown one where it
             *     stands, and the empty string for the body as a whole.
             */
            pointer: string;
            /** @description What is wrong, and what to send instead. */
            message: string;
        };
        /** @description A call whose body is not what this contract asks for. */
        InvalidRequestProblem: {
            type: components["schemas"]["ProblemType"];
            title: components["schemas"]["ProblemTitle"];
            status: components["schemas"]["ProblemStatus"];
            detail: components["schemas"]["ProblemDetail"];
            instance: components["schemas"]["ProblemInstance"];
            errorDetails: components["schemas"]["ProblemErrorDetails"];
            /** @description Every fault of the body, at most 20, one for each. */
            violations: components["schemas"]["Violation"][];
        };
        /** @description A call that was not carried out (RFC 9457). */
        Problem: {
            type: components["schemas"]["ProblemType"];
            title: components["schemas"]["ProblemTitle"];
            status: components["schemas"]["ProblemStatus"];
            detail: components["schemas"]["ProblemDetail"];
            instance: components["schemas"]["ProblemInstance"];
            errorDetails: components["schemas"]["ProblemErrorDetails"];
        };
        /** @description An original payment to create. */
        NewPayment: {
            amount: components["schemas"]["Amount"];
            status?: components["schemas"]["OriginalStatus"];
            /**
             * Format: date-time
             * @description When it settled, not in the future; 30 days ago when left out. Only for a payment that has settled.
             */
            settledAt?: string;
            /** @description The key of the call that made the payment; unique among all your payment records. */
            requestKey?: string;
            /** @description Your own identifier of the payment. */
            clientReferenceId?: string;
        };
        /**
         * @description The payment record that holds the key, as it stands now. A refund has all fields, with `errorDetails` when it has failed;
         *     an original payment has `paymentId` only. Compare `originalPaymentId`, `amount` and `clientReferenceId` with what you sent
         *     to tell your own refund, whose answer was lost, from another one.
         */
        ExistingRecord: {
            /** @description Identifier of the record. */
            paymentId: string;
            paymentStatus?: components["schemas"]["RefundStatus"];
            clientReferenceId?: components["schemas"]["ReturnedReference"];
            errorDetails?: components["schemas"]["RefundErrorDetails"];
            /** @description Identifier of the payment that the refund gives back. */
            originalPaymentId?: string;
            amount?: components["schemas"]["Amount"];
        };
        /** @description A refund whose `requestKey` belongs to a payment record already. */
        DuplicateRequestKeyProblem: {
            type: components["schemas"]["ProblemType"];
            title: components["schemas"]["ProblemTitle"];
            status: components["schemas"]["ProblemStatus"];
            detail: components["schemas"]["ProblemDetail"];
            instance: components["schemas"]["ProblemInstance"];
            errorDetails: components["schemas"]["ProblemErrorDetails"];
            existing: components["schemas"]["ExistingRecord"];
        };
        /** @description When a payment settled. */
        Settlement: {
            /**
             * Format: date-time
             * @description Not in the future; now when left out.
             */
            settledAt?: string;
        };
        /** @description Why the payment can not move. */
        ImpossibleMoveErrorDetails: {
            /**
             * @description The reason, for programs.
             * @constant
             */
            errorCode: "IMPOSSIBLE_MOVE";
            /** @description The reason, for people; it names the status of the payment. */
            errorMessage: string;
        };
        /** @description A move that an original payment can not make in the status it has. */
        ImpossibleMoveProblem: {
            type: components["schemas"]["ProblemType"];
            title: components["schemas"]["ProblemTitle"];
            status: components["schemas"]["ProblemStatus"];
            detail: components["schemas"]["ProblemDetail"];
            instance: components["schemas"]["ProblemInstance"];
            errorDetails: components["schemas"]["ImpossibleMoveErrorDetails"];
        };
        /** @description The time of the sandbox. */
        Clock: {
            /**
             * Format: date-time
             * @description ISO 8601, in UTC.
             */
            now: string;
        };
        /** @description How far to move the clock; exactly one of the fields. */
        ClockAdvance: {
            /**
             * Format: date-time
             * @description The time to move to, not before the present one, and not after 2099.
             */
            to?: string;
            /**
             * Format: duration
             * @description An ISO 8601 duration, such as `PT30M` or `P1D`; days are days of the Eastern calendar.
             */
            by?: string;
            /** @description Moves to the same Eastern wall time on the n-th business day after today. */
            businessDays?: number;
        };
        /**
         * @description Where a delivery stands. `EXHAUSTED` and `ENDED` ones are kept and can be sent again.
         * @enum {string}
         */
        DeliveryState: "PENDING" | "DELIVERED" | "EXHAUSTED" | "ENDED";
        /** @description One attempt to deliver. */
        DeliveryAttempt: {
            /**
             * Format: date-time
             * @description Real time of the attempt.
             */
            at: string;
            /** @description HTTP status of the answer; `null` when there was none. */
            status: number | null;
            /** @description Why the attempt failed; `null` when it did not. */
            error: string | null;
            /** @description How long it took. */
            milliseconds: number;
        };
        /** @description An event on its way to a subscription. */
        Delivery: {
            /** @description Sent as `webhook-id`, the same on every attempt. */
            webhookId: string;
            /** @description The subscription that it goes to. */
            subscriptionKey: string;
            /** @description Name of the event. */
            type: string;
            /** @description The payment, account or customer that the event is about. */
            resourceId: string;
            state: components["schemas"]["DeliveryState"];
            /**
             * Format: date-time
             * @description When the next attempt is due; `null` when there is none.
             */
            dueAt: string | null;
            /** @description What was tried so far, oldest first. */
            attempts: components["schemas"]["DeliveryAttempt"][];
        };
        /** @description A page of deliveries. */
        DeliveryPage: {
            /** @description The deliveries, newest first. */
            items: components["schemas"]["Delivery"][];
            /** @description Give it as `cursor` to get the next page; `null` on the last one. */
            nextCursor: string | null;
        };
        /** @description An event to emit. */
        NewEvent: {
            /**
             * @description Name of the event.
             * @enum {string}
             */
            type: "account.linked" | "account.unlinked" | "customer.created";
            /** @description The account or customer that it is about. */
            resourceId: string;
        };
        /** @description Counts the events of one payment, account or customer from 1. Deliveries are unordered; this is the order. */
        EventSequence: number;
        /** @description The event that was emitted. */
        EmittedEvent: {
            /**
             * @description Name of the event.
             * @enum {string}
             */
            type: "account.linked" | "account.unlinked" | "customer.created";
            /** @description The account or customer that it is about. */
            resourceId: string;
            sequence: components["schemas"]["EventSequence"];
        };
        /** @description What a new access token may do. */
        NewToken: {
            /** @description The operations that it opens; none is possible. */
            scopes: ("refunds" | "webhooks")[];
        };
        /** @description A new access token. */
        Token: {
            /** @description Shown once; only its hash is stored. */
            accessToken: string;
            /** @description The operations that it opens. */
            scopes: ("refunds" | "webhooks")[];
        };
    };
    responses: {
        /** @description A page of records. */
        PaymentList: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PaymentPage"];
            };
        };
        /** @description The call is not what this contract asks for. */
        InvalidRequest: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["InvalidRequestProblem"];
                "application/json": components["schemas"]["InvalidRequestProblem"];
            };
        };
        /** @description The access token is missing, unknown or expired. */
        Unauthorized: {
            headers: {
                "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `Accept` admits no `application/json`. */
        NotAcceptable: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description Too many calls. Wait as long as `Retry-After` says; the `requestKey` is still free. */
        RateLimited: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description Our fault. It is unknown whether the call was carried out: repeat a refund with the same `requestKey`. */
        InternalError: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description We can't serve the call now. Wait as long as `Retry-After` says, then repeat it with the same `requestKey`. */
        Unavailable: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description The payment, as it was stored. */
        PaymentCreated: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Debit"];
            };
        };
        /** @description The body did not arrive in time. */
        RequestTimeout: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description A payment record with this `requestKey` exists. No second refund was made. */
        DuplicateRequestKey: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["DuplicateRequestKeyProblem"];
                "application/json": components["schemas"]["DuplicateRequestKeyProblem"];
            };
        };
        /** @description The body is larger than 64 KiB. */
        PayloadTooLarge: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is not declared as plain JSON in UTF-8. */
        UnsupportedMediaType: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description The record. */
        PaymentFound: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PaymentRecord"];
            };
        };
        /** @description You have no such payment. */
        UnknownPayment: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description The payment, as it stands now. */
        PaymentMoved: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Debit"];
            };
        };
        /** @description The payment can not make this move in the status it has. */
        ImpossibleMove: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["ImpossibleMoveProblem"];
                "application/json": components["schemas"]["ImpossibleMoveProblem"];
            };
        };
        /** @description The time of the sandbox. */
        ClockTime: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Clock"];
            };
        };
        /** @description A page of deliveries. */
        DeliveryList: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["DeliveryPage"];
            };
        };
        /** @description It will be sent again. */
        Redelivering: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Delivery"];
            };
        };
        /** @description You have no such delivery. */
        UnknownDelivery: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description The subscription has ended. */
        SubscriptionEnded: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description You have no such live subscription. */
        UnknownSubscription: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description The event was emitted. */
        EventEmitted: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["EmittedEvent"];
            };
        };
        /** @description The access token. */
        TokenCreated: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Token"];
            };
        };
        /** @description Your data are as at the start. */
        SandboxReset: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content?: never;
        };
    };
    parameters: {
        /**
         * @description Only original payments, or only refunds.
         * @example REFUND
         */
        Kind: "DEBIT" | "REFUND";
        /**
         * @description How many records to return at most.
         * @example 20
         */
        Limit: number;
        /**
         * @description The `nextCursor` of the page before.
         * @example WyIyMDI2LTExLTIxIl0
         */
        Cursor: string;
        /**
         * @description Identifier of the payment or refund.
         * @example pay_settled
         */
        PaymentId: string;
        /**
         * @description Only deliveries of this subscription.
         * @example sub_019aa5b4-1d20-7b6c-9e57-2f8a6c3d1b00
         */
        SubscriptionKeyQuery: string;
        /**
         * @description The `webhook-id` of the delivery.
         * @example msg_019aa5b6-2e31-7c44-8d10-6f1b2a3c4d5e
         */
        WebhookId: string;
        /**
         * @description Key of the subscription.
         * @example sub_019aa5b4-1d20-7b6c-9e57-2f8a6c3d1b00
         */
        SubscriptionKey: string;
    };
    requestBodies: never;
    headers: {
        /** @description What is left of your quota, such as `"merchant";r=150;t=1`. Sent when a rate limit is on. */
        RateLimit: string;
        /** @description Your quota, such as `"merchant";q=200;w=2`. Sent when a rate limit is on. */
        RateLimitPolicy: string;
        /** @description The authentication scheme that the call needs. */
        WwwAuthenticate: string;
        /** @description Seconds to wait before you call again. */
        RetryAfter: number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listPayments: {
        parameters: {
            query?: {
                /**
                 * @description Only original payments, or only refunds.
                 * @example REFUND
                 */
                kind?: components["parameters"]["Kind"];
                /**
                 * @description How many records to return at most.
                 * @example 20
                 */
                limit?: components["parameters"]["Limit"];
                /**
                 * @description The `nextCursor` of the page before.
                 * @example WyIyMDI2LTExLTIxIl0
                 */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["PaymentList"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createPayment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The payment to create. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPayment"];
            };
        };
        responses: {
            201: components["responses"]["PaymentCreated"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["DuplicateRequestKey"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getPayment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifier of the payment or refund.
                 * @example pay_settled
                 */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["PaymentFound"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["UnknownPayment"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    settlePayment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifier of the payment or refund.
                 * @example pay_settled
                 */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        /** @description When it settled; without a body, now. */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Settlement"];
            };
        };
        responses: {
            200: components["responses"]["PaymentMoved"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["UnknownPayment"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["ImpossibleMove"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    failPayment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifier of the payment or refund.
                 * @example pay_settled
                 */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["PaymentMoved"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["UnknownPayment"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["ImpossibleMove"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    coverPayment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifier of the payment or refund.
                 * @example pay_settled
                 */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["PaymentMoved"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["UnknownPayment"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["ImpossibleMove"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getClock: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["ClockTime"];
            401: components["responses"]["Unauthorized"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    advanceClock: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description How far to move. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClockAdvance"];
            };
        };
        responses: {
            200: components["responses"]["ClockTime"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /**
                 * @description Only deliveries of this subscription.
                 * @example sub_019aa5b4-1d20-7b6c-9e57-2f8a6c3d1b00
                 */
                subscriptionKey?: components["parameters"]["SubscriptionKeyQuery"];
                /**
                 * @description How many records to return at most.
                 * @example 20
                 */
                limit?: components["parameters"]["Limit"];
                /**
                 * @description The `nextCursor` of the page before.
                 * @example WyIyMDI2LTExLTIxIl0
                 */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["DeliveryList"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    redeliver: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The `webhook-id` of the delivery.
                 * @example msg_019aa5b6-2e31-7c44-8d10-6f1b2a3c4d5e
                 */
                webhookId: components["parameters"]["WebhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: components["responses"]["Redelivering"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["UnknownDelivery"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    endSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Key of the subscription.
                 * @example sub_019aa5b4-1d20-7b6c-9e57-2f8a6c3d1b00
                 */
                subscriptionKey: components["parameters"]["SubscriptionKey"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: components["responses"]["SubscriptionEnded"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["UnknownSubscription"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    emitEvent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The event to emit. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewEvent"];
            };
        };
        responses: {
            202: components["responses"]["EventEmitted"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description What the token may do. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewToken"];
            };
        };
        responses: {
            201: components["responses"]["TokenCreated"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    resetSandbox: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: components["responses"]["SandboxReset"];
            401: components["responses"]["Unauthorized"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
}
