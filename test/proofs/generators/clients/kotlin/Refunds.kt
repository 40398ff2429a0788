import java.math.BigDecimal
import java.math.RoundingMode
import java.security.MessageDigest
import java.time.Instant
import java.util.Base64
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec
import kotlin.math.abs
import com.google.gson.JsonParser
import payments.apis.RefundsApi
import payments.infrastructure.Serializer
import payments.models.*

fun refund(api: RefundsApi, paymentId: String, amount: BigDecimal, requestKey: String): Refund {
    // Refuses a third digit here, before a Double could hide it.
    val value = amount.setScale(2, RoundingMode.UNNECESSARY).toDouble()
    return api.issueRefund(RefundRequest(paymentId, Amount(Amount.Currency.uSD, value), requestKey))
}

fun isGenuine(secret: String, id: String, timestamp: String, signatures: String, body: String): Boolean {
    val sent = timestamp.toLongOrNull() ?: return false
    if (abs(Instant.now().epochSecond - sent) > 300) return false
    val key = Base64.getDecoder().decode(secret.removePrefix("whsec_")) // throws if it isn't base64
    require(key.size >= 24) { "the secret is so short that others could guess it" }
    val mac = Mac.getInstance("HmacSHA256")
    mac.init(SecretKeySpec(key, "HmacSHA256"))
    val digest = mac.doFinal("$id.$timestamp.$body".toByteArray())
    val expected = "v1," + Base64.getEncoder().encodeToString(digest)
    return signatures.split(" ").any { MessageDigest.isEqual(expected.toByteArray(), it.toByteArray()) }
}

val EVENTS = mapOf(
    "refund.pending" to RefundPendingEvent::class.java,
    "refund.authorized" to RefundAuthorizedEvent::class.java,
    "refund.terminal_failed" to RefundTerminalFailedEvent::class.java,
    "payment.settled" to PaymentSettledEvent::class.java,
    "payment.failed" to PaymentFailedEvent::class.java,
    "payment.covered" to PaymentCoveredEvent::class.java,
    "account.linked" to AccountLinkedEvent::class.java,
    "account.unlinked" to AccountUnlinkedEvent::class.java,
    "customer.created" to CustomerCreatedEvent::class.java,
)

/** The event as an object of its own class, or null if it is newer than this client. */
fun readEvent(body: String): Any? {
    val known = EVENTS[JsonParser.parseString(body).asJsonObject["type"].asString] ?: return null
    return Serializer.gson.fromJson(body, known)
}
