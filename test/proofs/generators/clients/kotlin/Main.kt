import java.math.BigDecimal
import java.time.OffsetDateTime
import payments.apis.RefundsApi
import payments.apis.WebhooksApi
import payments.infrastructure.ApiClient
import payments.infrastructure.ClientError
import payments.infrastructure.ClientException
import payments.infrastructure.Serializer
import payments.models.*

val env: Map<String, String> = System.getenv()

fun main() {
    ApiClient.accessToken = env.getValue("ACCESS_TOKEN")
    val url = env.getValue("PAYMENTS_URL")
    val refunds = RefundsApi(url)
    val run = env.getValue("RUN")

    var last = ""
    env.getValue("REFUNDS").split(",").forEachIndexed { index, entry ->
        val (paymentId, amount) = entry.split("=")
        last = "$run-exact$index"
        val refund = refund(refunds, paymentId, BigDecimal(amount), last)
        println("exact$index.status=${refund.paymentStatus.value}\nexact$index.paymentId=${refund.paymentId}")
        println("exact$index.reference=${refund.clientReferenceId}")
    }

    val price = Amount(Amount.Currency.uSD, 9.99)
    val pending = refunds.issueRefund(RefundRequest("pay_recent", price, "$run-pending", clientReferenceId = "order-1042"))
    println("pending.status=${pending.paymentStatus.value}\npending.reference=${pending.clientReferenceId}")

    val failed = refunds.issueRefund(RefundRequest("pay_failed", price, "$run-failed", clientRefefenceId = "order-1043"))
    println("failed.status=${failed.paymentStatus.value}\nfailed.errorCode=${failed.errorDetails?.errorCode}")
    println("failed.reference=${failed.clientReferenceId}")

    // The exception has the body as text: the generated model reads it.
    val tooExact = RefundRequest("pay_recent", Amount(Amount.Currency.uSD, 19.999), "$run-invalid")
    val (status, body) = refused { refunds.issueRefund(tooExact) }
    val invalid = Serializer.gson.fromJson(body, InvalidRequestProblem::class.java)
    println("invalid.status=$status\ninvalid.pointer=${invalid.violations.first().pointer}")

    val (again, text) = refused { refund(refunds, "pay_recent", BigDecimal("9.99"), last) }
    val duplicate = Serializer.gson.fromJson(text, DuplicateRequestKeyProblem::class.java)
    println("duplicate.status=$again\nduplicate.errorCode=${duplicate.errorDetails.errorCode}")
    println("duplicate.existing=${duplicate.existing.paymentId}\nduplicate.amount=${duplicate.existing.amount?.value}")

    val secret = env.getValue("WEBHOOK_SECRET")
    val kinds = mapOf(
        "event" to SubscriptionDetails(SubscriptionDetails.Type.eVENT, listOf("refund.authorized")),
        "category" to SubscriptionDetails(SubscriptionDetails.Type.cATEGORY, listOf("PAYMENT")),
        "all" to SubscriptionDetails(SubscriptionDetails.Type.aLL, emptyList()),
    )
    for ((name, details) in kinds) {
        val request = SubscriptionRequest(java.net.URI("http://127.0.0.1:9/hooks"), secret, details)
        println("subscription.$name=${WebhooksApi(url).subscribeToWebhooks(request).subscriptionKey}")
    }

    val (id, event) = listOf("WEBHOOK_ID", "WEBHOOK_BODY").map(env::getValue)
    val (timestamp, signature) = listOf("WEBHOOK_TIMESTAMP", "WEBHOOK_SIGNATURE").map(env::getValue)
    val (old, oldSignature) = listOf("OLD_TIMESTAMP", "OLD_SIGNATURE").map(env::getValue)
    println("webhook.genuine=${isGenuine(secret, id, timestamp, signature, event)}")
    println("webhook.altered=${isGenuine(secret, id, timestamp, signature, "$event ")}")
    println("webhook.old=${isGenuine(secret, id, old, oldSignature, event)}")
    val forged = env.getValue("FORGERIES").split(";").any {
        val (weak, forgery) = it.split("|")
        runCatching { isGenuine(weak, id, timestamp, forgery, event) }.getOrDefault(false)
    }
    println("webhook.forged=$forged")

    env.getValue("EVENTS").lines().forEachIndexed { index, line ->
        println("event$index=${describe(readEvent(line)).joinToString(" ")}")
    }
}

fun describe(event: Any?): List<Any?> = when (event) {
    is RefundPendingEvent -> listOf(event.type.value) + head(event.sequence, event.timestamp) + ofRefund(event.data)
    is RefundAuthorizedEvent -> listOf(event.type.value) + head(event.sequence, event.timestamp) + ofRefund(event.data)
    is RefundTerminalFailedEvent -> listOf(event.type.value) + head(event.sequence, event.timestamp) + ofFailed(event.data)
    is PaymentSettledEvent -> listOf(event.type.value) + head(event.sequence, event.timestamp) + ofPayment(event.data)
    is PaymentFailedEvent -> listOf(event.type.value) + head(event.sequence, event.timestamp) + ofPayment(event.data)
    is PaymentCoveredEvent -> listOf(event.type.value) + head(event.sequence, event.timestamp) + ofPayment(event.data)
    is AccountLinkedEvent -> listOf(event.type.value) + head(event.sequence, event.timestamp) + event.data.accountId
    is AccountUnlinkedEvent -> listOf(event.type.value) + head(event.sequence, event.timestamp) + event.data.accountId
    is CustomerCreatedEvent -> listOf(event.type.value) + head(event.sequence, event.timestamp) + event.data.customerId
    else -> listOf("unknown")
}

fun head(sequence: Int, at: OffsetDateTime) = listOf(sequence, at.toInstant().toEpochMilli())

fun ofRefund(data: RefundEventData) =
    listOf(data.paymentId, data.paymentStatus, data.clientReferenceId, data.originalPaymentId, data.amount.value, data.requestKey)

fun ofFailed(data: FailedRefundEventData) =
    listOf(data.paymentId, data.paymentStatus, data.clientReferenceId, data.originalPaymentId, data.amount.value, data.requestKey, data.errorDetails.errorCode)

fun ofPayment(data: PaymentEventData) = listOf(data.paymentId, data.status, data.amount.value)

fun refused(call: () -> Unit): Pair<Int, String> {
    try {
        call()
    } catch (error: ClientException) {
        return error.statusCode to (error.response as ClientError<*>).body as String
    }
    throw IllegalStateException("the call was not refused")
}
