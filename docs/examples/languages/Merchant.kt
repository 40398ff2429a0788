import java.nio.file.*
import java.nio.file.StandardOpenOption.*
import java.security.MessageDigest
import java.util.*
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec
import payments.apis.RefundsApi
import payments.infrastructure.*
import payments.models.*
// A merchant's program: `refund PAYMENT AMOUNT REFERENCE` issues a refund safely, `receive ID TIME SIGNATURES` takes an event from standard input.
fun refund(api: RefundsApi, request: RefundRequest): String {
    val retries = Serializer.gson.fromJson(Files.readString(Path.of("retries.json")), Map::class.java) // by the contract
    for (attempt in 0..3) {
        var wait: String? = null
        try {
            return api.issueRefund(request).paymentStatus.value
        } catch (error: UnsupportedOperationException) { // a redirect
            return "unknown"
        } catch (error: ClientException) {
            val response = error.response as ClientError<*>
            if (error.statusCode == 409) {
                val found = Serializer.gson.fromJson(response.body as String, DuplicateRequestKeyProblem::class.java).existing
                val sameMoney = found.originalPaymentId == request.paymentId && found.amount == request.amount
                val ours = sameMoney && found.clientReferenceId == request.clientReferenceId
                return found.paymentStatus?.value.takeIf { ours } ?: "conflict"
            }
            val result = retries["${error.statusCode}"]
            // This alone shows that no attempt made the refund, of this run or of an earlier one.
            if (result == "none" && "errorDetails" in response.body.toString()) return "none"
            if (result != "again") return "unknown"
            wait = response.headers["retry-after"]?.first()
        } catch (error: Exception) { // a 5xx, no response, or none that can be read
            wait = ((error as? ServerException)?.response as? ServerError<*>)?.headers?.get("retry-after")?.first()
        }
        Thread.sleep(1000 * (wait?.toLong() ?: 0) + (300L shl attempt))
    }
    return "unknown"
}

fun receive(secret: String, id: String, timestamp: String, signatures: String, body: ByteArray): Int {
    val key = Base64.getDecoder().decode(secret.removePrefix("whsec_"))
    val sent = timestamp.toLongOrNull() ?: return 400
    if (key.size < 24 || kotlin.math.abs(System.currentTimeMillis() / 1000 - sent) > 300) return 400
    val mac = Mac.getInstance("HmacSHA256").apply { init(SecretKeySpec(key, "HmacSHA256")) }
    mac.update("$id.$timestamp.".toByteArray())
    val expected = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))
    if (signatures.split(" ").none { MessageDigest.isEqual(expected.toByteArray(), it.toByteArray()) }) return 400
    val half = Files.createDirectories(Path.of("events")).resolve("." + UUID.randomUUID())
    Files.move(Files.write(half, body, CREATE_NEW, WRITE, SYNC), Path.of("events", id), StandardCopyOption.ATOMIC_MOVE) // before the response; a repeat changes nothing
    return 204
}

fun main(given: Array<String>) {
    if (given[0] == "receive")
        return println(receive(System.getenv("WEBHOOK_SECRET"), given[1], given[2], given[3], System.`in`.readAllBytes()))
    ApiClient.accessToken = System.getenv("PAYMENTS_TOKEN")
    val client = okhttp3.OkHttpClient.Builder().followRedirects(false).retryOnConnectionFailure(false).callTimeout(java.time.Duration.ofSeconds(10))
    val request = RefundRequest(given[1], Amount(Amount.Currency.uSD, given[2].toDouble()), requestKey = given[3], clientReferenceId = given[3])
    println(refund(RefundsApi(System.getenv("PAYMENTS_URL"), client.build()), request))
}
