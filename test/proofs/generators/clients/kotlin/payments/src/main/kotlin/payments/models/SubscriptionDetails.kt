package payments.models

/** Any of the three kinds: the generated interface has none of them implement it. */
typealias SubscriptionDetails = Any
