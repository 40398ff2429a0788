import java.math.BigDecimal
import java.math.RoundingMode
import java.security.MessageDigest
import java.time.Instant
import java.util.Base64
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec
import kotlin.math.abs
import com.google.gson.JsonParser
import java.io.IOException
import okhttp3.OkHttpClient
import payments.apis.RefundsApi
import payments.infrastructure.ClientError
import payments.infrastructure.ClientException
import payments.infrastructure.ServerError
import payments.infrastructure.ServerException
import payments.infrastructure.Serializer
import payments.models.*

fun refund(api: RefundsApi, paymentId: String, amount: BigDecimal, requestKey: String): Refund {
    // Refuses a third digit here, before a Double could hide it.
    val value = amount.setScale(2, RoundingMode.UNNECESSARY).toDouble()
    return api.issueRefund(RefundRequest(paymentId, Amount(Amount.Currency.uSD, value), requestKey))
}

/** The service never redirects, and OkHttp would follow with the whole request. */
val withoutRedirects: OkHttpClient = OkHttpClient.Builder().followRedirects(false).build()

/**
 * Repeats a call whose outcome is unknown, always with the same requestKey. Returns the status of the refund, or null if none was
 * made. After an exception, repeat it later with the same requestKey.
 */
fun refundOnce(api: RefundsApi, request: RefundRequest): String? {
    var attempt = 0
    while (true) {
        val headers = try {
            return api.issueRefund(request).paymentStatus.value
        } catch (error: UnsupportedOperationException) {
            return null // a redirect
        } catch (error: ClientException) {
            val response = error.response as ClientError<*>
            if (error.statusCode == 409) return existingStatus(request, response.body as String)
            if (error.statusCode != 429) return null
            if (attempt == 3) throw error
            response.headers
        } catch (error: ServerException) {
            if (attempt == 3) throw error
            (error.response as ServerError<*>).headers
        } catch (error: IOException) {
            if (attempt == 3) throw error
            emptyMap() // no response, or none that can be read
        }
        val seconds = headers["retry-after"]?.first()?.toLongOrNull() ?: 0
        Thread.sleep(1000 * seconds + (300L shl attempt))
        attempt += 1
    }
}

/** The status of the refund that has the requestKey, if it is the one that was requested. */
private fun existingStatus(request: RefundRequest, body: String): String? {
    val existing = Serializer.gson.fromJson(body, DuplicateRequestKeyProblem::class.java).existing
    val isOurs = existing.originalPaymentId == request.paymentId && existing.amount == request.amount
    return if (isOurs) existing.paymentStatus?.value else null
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
