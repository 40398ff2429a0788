export interface paths {
    "/v1/refunds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Issue a refund
         * @description Refunds all or part of an earlier payment. The answer is the refund, with the status it starts in:
         *
         *     - `PENDING` while the original payment is processing, or was settled less than three business days ago;
         *     - `AUTHORIZED` when it was settled three business days ago or more: money is moving;
         *     - `TERMINAL_FAILED`, with `errorDetails`, when there is nothing to refund.
         *
         *     A `requestKey` works once: every later call with it is answered 409, an identical one included. Needs the scope
         *     `refunds`.
         */
        post: operations["issueRefund"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook/subscribe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Subscribe to webhooks
         * @description Registers an address that notifications are delivered to, and says which: every event, the events of some categories,
         *     or single events. Each call makes a new subscription, also for an address that has one already; a merchant can have 100
         *     live ones. A subscription hears of what happens after it was made, and ends when its `url` answers a delivery with 410.
         *     Needs the scope `webhooks`.
         */
        post: operations["subscribeToWebhooks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "refund.pending": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A refund waits
         * @description A refund was issued and waits for settlement, or for three business days after it.
         */
        post: operations["onRefundPending"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "refund.authorized": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A refund is authorized
         * @description The movement of money has begun.
         */
        post: operations["onRefundAuthorized"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "refund.terminal_failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A refund failed
         * @description The refund failed, when it was issued or later. This is final.
         */
        post: operations["onRefundTerminalFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment.settled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A payment settled
         * @description An original payment was settled.
         */
        post: operations["onPaymentSettled"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A payment failed
         * @description An original payment failed; its refunds fail with it.
         */
        post: operations["onPaymentFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment.covered": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A payment was covered
         * @description An original payment fell into the service's cover; its refunds fail with it.
         */
        post: operations["onPaymentCovered"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "account.linked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * An account was linked
         * @description A customer linked a bank account.
         */
        post: operations["onAccountLinked"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "account.unlinked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * An account was unlinked
         * @description A customer unlinked a bank account.
         */
        post: operations["onAccountUnlinked"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "customer.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A customer was created
         * @description A customer was created.
         */
        post: operations["onCustomerCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
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
        /** @description A request to refund all or part of an earlier payment. */
        RefundRequest: {
            /** @description Identifier that the service generated for the original payment, the one to refund. */
            paymentId: string;
            amount: components["schemas"]["Amount"];
            /**
             * @description Your own identifier of this refund, kept with it for reconciliation and returned with it. That it is unique is your
             *     promise; it is not checked.
             */
            clientReferenceId?: string;
            /**
             * @deprecated
             * @description The misspelling of `clientReferenceId` in the interface's list of parameters. Accepted and never sent back. Sending
             *     both is accepted when they are equal.
             */
            clientRefefenceId?: string;
            /**
             * @description Text for the receiving bank, sent with the payment instruction. The bank may show it to the customer or not. ASCII
             *     letters, digits and spaces.
             */
            softDescriptor?: string;
            /**
             * @description Your unique key for this call. It is unique among all your payment records, original payments and refunds, for ever,
             *     and compared byte for byte. Make it before the call and store it, so that you can repeat the call with it.
             */
            requestKey: string;
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
        /** @description A refund, as it stands at the time of the answer. */
        Refund: {
            paymentId: components["schemas"]["RefundPaymentId"];
            paymentStatus: components["schemas"]["RefundStatus"];
            clientReferenceId: components["schemas"]["ReturnedReference"];
            errorDetails?: components["schemas"]["RefundErrorDetails"];
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
        /**
         * @description The name of an event, `<resource>.<status>`.
         * @enum {string}
         */
        EventName: "refund.pending" | "refund.authorized" | "refund.terminal_failed" | "payment.settled" | "payment.failed" | "payment.covered" | "account.linked" | "account.unlinked" | "customer.created";
        /**
         * Single events
         * @description Sends the listed events.
         */
        EventSubscription: {
            /**
             * @description Selects single events. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "EVENT";
            /** @description Names of events, as a list also when there is only one. A repeated name counts once. */
            details: components["schemas"]["EventName"][];
        };
        /**
         * @description A category of events.
         * @enum {string}
         */
        EventCategory: "ACCOUNT" | "CUSTOMER" | "PAYMENT";
        /**
         * Categories of events
         * @description Sends every event of the listed categories, later ones included.
         */
        CategorySubscription: {
            /**
             * @description Selects categories of events. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "CATEGORY";
            /** @description Categories, as a list also when there is only one. A repeated one counts once. */
            details: components["schemas"]["EventCategory"][];
        };
        /**
         * Every event
         * @description Sends every event, later ones included.
         */
        AllSubscription: {
            /**
             * @description Selects every event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "ALL";
            /** @description Ignored. */
            details?: string[];
        };
        /** @description What the subscription is told about. */
        SubscriptionDetails: components["schemas"]["EventSubscription"] | components["schemas"]["CategorySubscription"] | components["schemas"]["AllSubscription"];
        /** @description A request to be told about events. */
        SubscriptionRequest: {
            /**
             * Format: uri
             * @description Address that notifications are delivered to: `https`, with a public host and without credentials. A fragment is
             *     accepted and not sent. The sandbox takes `http` and loopback addresses as well.
             */
            url: string;
            /**
             * @description Your secret, which signs the deliveries so that you can check where they come from. Kept encrypted, never returned.
             *     `whsec_` followed by base64 stands for the decoded bytes; anything else for its UTF-8 bytes. Use at least 32 random
             *     characters.
             */
            secretKey: string;
            subscriptionDetails: components["schemas"]["SubscriptionDetails"];
        };
        /** @description The subscription that was made. */
        Subscription: {
            /** @description Unique key of the subscription. It can be used to unsubscribe. */
            subscriptionKey: string;
        };
        /**
         * Format: date-time
         * @description When the event happened.
         */
        EventTimestamp: string;
        /** @description Counts the events of one payment, account or customer from 1. Deliveries are unordered; this is the order. */
        EventSequence: number;
    };
    responses: {
        /** @description The refund, in the status it starts in, also when that is `TERMINAL_FAILED`. */
        RefundIssued: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refund"];
            };
        };
        /** @description The body is not what this contract asks for. Correct it; the `requestKey` is still free. */
        InvalidRefundRequest: {
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
        /** @description The access token lacks the scope of this operation. */
        Forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description You have no payment with this `paymentId`. Another merchant's payment is answered in the same way. */
        PaymentNotFound: {
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
        /** @description The subscription was made. */
        Subscribed: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Subscription"];
            };
        };
        /** @description The body is not what this contract asks for. */
        InvalidSubscriptionRequest: {
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
        /** @description You have 100 live subscriptions. End one before you make another. */
        SubscriptionLimit: {
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
        /** @description Anything else, redirects and no answer within 15 seconds included, is a failed attempt. Ten are made over about three days; `Retry-After` can delay the next one. */
        NotDelivered: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description Not wanted any more. The subscription ends. */
        Gone: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description Received. Answer within 15 seconds; do the work afterwards. */
        Delivered: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
    };
    parameters: {
        /** @description Identifies this event for this subscription; the same on every attempt. */
        WebhookId: string;
        /** @description Time of this attempt, in seconds since 1970. Refuse one that is more than five minutes away from your clock. */
        WebhookTimestamp: number;
        /** @description `v1,` and the base64 of the HMAC-SHA256, under your `secretKey`, of `webhook-id`, `webhook-timestamp` and the raw body, joined by points. Several are separated by spaces. */
        WebhookSignature: string;
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
    issueRefund: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The payment to refund, and how much of it. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["RefundRequest"];
            };
        };
        responses: {
            201: components["responses"]["RefundIssued"];
            400: components["responses"]["InvalidRefundRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["PaymentNotFound"];
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
    subscribeToWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Where to deliver, the secret to sign with, and what to send. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubscriptionRequest"];
            };
        };
        responses: {
            200: components["responses"]["Subscribed"];
            400: components["responses"]["InvalidSubscriptionRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["SubscriptionLimit"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    onRefundPending: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifies this event for this subscription; the same on every attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Time of this attempt, in seconds since 1970. Refuse one that is more than five minutes away from your clock. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and the base64 of the HMAC-SHA256, under your `secretKey`, of `webhook-id`, `webhook-timestamp` and the raw body, joined by points. Several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event, as it was when it happened; the same bytes on each attempt. */
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Names the event.
                     * @constant
                     */
                    type: "refund.pending";
                    timestamp: components["schemas"]["EventTimestamp"];
                    sequence: components["schemas"]["EventSequence"];
                    /** @description The refund. */
                    data: {
                        paymentId: components["schemas"]["RefundPaymentId"];
                        /**
                         * @description The status that the refund took with this event.
                         * @constant
                         */
                        paymentStatus: "PENDING";
                        clientReferenceId: components["schemas"]["ReturnedReference"];
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            410: components["responses"]["Gone"];
            "2XX": components["responses"]["Delivered"];
            default: components["responses"]["NotDelivered"];
        };
    };
    onRefundAuthorized: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifies this event for this subscription; the same on every attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Time of this attempt, in seconds since 1970. Refuse one that is more than five minutes away from your clock. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and the base64 of the HMAC-SHA256, under your `secretKey`, of `webhook-id`, `webhook-timestamp` and the raw body, joined by points. Several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event, as it was when it happened; the same bytes on each attempt. */
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Names the event.
                     * @constant
                     */
                    type: "refund.authorized";
                    timestamp: components["schemas"]["EventTimestamp"];
                    sequence: components["schemas"]["EventSequence"];
                    /** @description The refund. */
                    data: {
                        paymentId: components["schemas"]["RefundPaymentId"];
                        /**
                         * @description The status that the refund took with this event.
                         * @constant
                         */
                        paymentStatus: "AUTHORIZED";
                        clientReferenceId: components["schemas"]["ReturnedReference"];
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            410: components["responses"]["Gone"];
            "2XX": components["responses"]["Delivered"];
            default: components["responses"]["NotDelivered"];
        };
    };
    onRefundTerminalFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifies this event for this subscription; the same on every attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Time of this attempt, in seconds since 1970. Refuse one that is more than five minutes away from your clock. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and the base64 of the HMAC-SHA256, under your `secretKey`, of `webhook-id`, `webhook-timestamp` and the raw body, joined by points. Several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event, as it was when it happened; the same bytes on each attempt. */
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Names the event.
                     * @constant
                     */
                    type: "refund.terminal_failed";
                    timestamp: components["schemas"]["EventTimestamp"];
                    sequence: components["schemas"]["EventSequence"];
                    /** @description The refund. */
                    data: {
                        paymentId: components["schemas"]["RefundPaymentId"];
                        /**
                         * @description The status that the refund took with this event.
                         * @constant
                         */
                        paymentStatus: "TERMINAL_FAILED";
                        clientReferenceId: components["schemas"]["ReturnedReference"];
                        errorDetails: components["schemas"]["RefundErrorDetails"];
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            410: components["responses"]["Gone"];
            "2XX": components["responses"]["Delivered"];
            default: components["responses"]["NotDelivered"];
        };
    };
    onPaymentSettled: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifies this event for this subscription; the same on every attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Time of this attempt, in seconds since 1970. Refuse one that is more than five minutes away from your clock. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and the base64 of the HMAC-SHA256, under your `secretKey`, of `webhook-id`, `webhook-timestamp` and the raw body, joined by points. Several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event, as it was when it happened; the same bytes on each attempt. */
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Names the event.
                     * @constant
                     */
                    type: "payment.settled";
                    timestamp: components["schemas"]["EventTimestamp"];
                    sequence: components["schemas"]["EventSequence"];
                    /** @description The original payment. */
                    data: {
                        /** @description Identifier of the original payment. */
                        paymentId: string;
                        /**
                         * @description The status that the payment took with this event.
                         * @constant
                         */
                        status: "SETTLED";
                        amount: components["schemas"]["Amount"];
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            410: components["responses"]["Gone"];
            "2XX": components["responses"]["Delivered"];
            default: components["responses"]["NotDelivered"];
        };
    };
    onPaymentFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifies this event for this subscription; the same on every attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Time of this attempt, in seconds since 1970. Refuse one that is more than five minutes away from your clock. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and the base64 of the HMAC-SHA256, under your `secretKey`, of `webhook-id`, `webhook-timestamp` and the raw body, joined by points. Several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event, as it was when it happened; the same bytes on each attempt. */
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Names the event.
                     * @constant
                     */
                    type: "payment.failed";
                    timestamp: components["schemas"]["EventTimestamp"];
                    sequence: components["schemas"]["EventSequence"];
                    /** @description The original payment. */
                    data: {
                        /** @description Identifier of the original payment. */
                        paymentId: string;
                        /**
                         * @description The status that the payment took with this event.
                         * @constant
                         */
                        status: "FAILED";
                        amount: components["schemas"]["Amount"];
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            410: components["responses"]["Gone"];
            "2XX": components["responses"]["Delivered"];
            default: components["responses"]["NotDelivered"];
        };
    };
    onPaymentCovered: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifies this event for this subscription; the same on every attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Time of this attempt, in seconds since 1970. Refuse one that is more than five minutes away from your clock. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and the base64 of the HMAC-SHA256, under your `secretKey`, of `webhook-id`, `webhook-timestamp` and the raw body, joined by points. Several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event, as it was when it happened; the same bytes on each attempt. */
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Names the event.
                     * @constant
                     */
                    type: "payment.covered";
                    timestamp: components["schemas"]["EventTimestamp"];
                    sequence: components["schemas"]["EventSequence"];
                    /** @description The original payment. */
                    data: {
                        /** @description Identifier of the original payment. */
                        paymentId: string;
                        /**
                         * @description The status that the payment took with this event.
                         * @constant
                         */
                        status: "COVERED";
                        amount: components["schemas"]["Amount"];
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            410: components["responses"]["Gone"];
            "2XX": components["responses"]["Delivered"];
            default: components["responses"]["NotDelivered"];
        };
    };
    onAccountLinked: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifies this event for this subscription; the same on every attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Time of this attempt, in seconds since 1970. Refuse one that is more than five minutes away from your clock. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and the base64 of the HMAC-SHA256, under your `secretKey`, of `webhook-id`, `webhook-timestamp` and the raw body, joined by points. Several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event, as it was when it happened; the same bytes on each attempt. */
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Names the event.
                     * @constant
                     */
                    type: "account.linked";
                    timestamp: components["schemas"]["EventTimestamp"];
                    sequence: components["schemas"]["EventSequence"];
                    /** @description The account. */
                    data: {
                        /** @description Identifier of the account. */
                        accountId: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            410: components["responses"]["Gone"];
            "2XX": components["responses"]["Delivered"];
            default: components["responses"]["NotDelivered"];
        };
    };
    onAccountUnlinked: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifies this event for this subscription; the same on every attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Time of this attempt, in seconds since 1970. Refuse one that is more than five minutes away from your clock. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and the base64 of the HMAC-SHA256, under your `secretKey`, of `webhook-id`, `webhook-timestamp` and the raw body, joined by points. Several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event, as it was when it happened; the same bytes on each attempt. */
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Names the event.
                     * @constant
                     */
                    type: "account.unlinked";
                    timestamp: components["schemas"]["EventTimestamp"];
                    sequence: components["schemas"]["EventSequence"];
                    /** @description The account. */
                    data: {
                        /** @description Identifier of the account. */
                        accountId: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            410: components["responses"]["Gone"];
            "2XX": components["responses"]["Delivered"];
            default: components["responses"]["NotDelivered"];
        };
    };
    onCustomerCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifies this event for this subscription; the same on every attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Time of this attempt, in seconds since 1970. Refuse one that is more than five minutes away from your clock. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and the base64 of the HMAC-SHA256, under your `secretKey`, of `webhook-id`, `webhook-timestamp` and the raw body, joined by points. Several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event, as it was when it happened; the same bytes on each attempt. */
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Names the event.
                     * @constant
                     */
                    type: "customer.created";
                    timestamp: components["schemas"]["EventTimestamp"];
                    sequence: components["schemas"]["EventSequence"];
                    /** @description The customer. */
                    data: {
                        /** @description Identifier of the customer. */
                        customerId: string;
                    } & {
                        [key: string]: unknown;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            410: components["responses"]["Gone"];
            "2XX": components["responses"]["Delivered"];
            default: components["responses"]["NotDelivered"];
        };
    };
}
