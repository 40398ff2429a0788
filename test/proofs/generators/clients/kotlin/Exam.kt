import com.google.gson.JsonParser
import com.sun.net.httpserver.HttpExchange
import com.sun.net.httpserver.HttpServer
import java.io.File
import java.io.IOException
import java.net.InetSocketAddress
import java.util.UUID
import payments.apis.RefundsApi
import payments.infrastructure.ApiClient
import payments.infrastructure.ServerException
import payments.infrastructure.ClientException
import payments.models.*

/** What this system knows about a refund; each is a file, where yours has a database. */
class Stored(val requestKey: String, val sequence: Int, val status: String)

val FOLDER = File("refunds")
val STATUSES = setOf("PENDING", "AUTHORIZED", "TERMINAL_FAILED")

fun read(reference: String): Stored? {
    val file = File(FOLDER, reference)
    if (!file.exists()) return null
    val (requestKey, sequence, status) = file.readText().split(" ")
    return Stored(requestKey, sequence.toInt(), status)
}

fun write(reference: String, refund: Stored) {
    val file = File(FOLDER, "$reference.new")
    file.writeText("${refund.requestKey} ${refund.sequence} ${refund.status}")
    file.renameTo(File(FOLDER, reference))
}

fun receive(exchange: HttpExchange, body: String): Int {
    val (id, timestamp, signature) =
        listOf("id", "timestamp", "signature").map { exchange.requestHeaders.getFirst("webhook-$it") ?: "" }
    if (!isGenuine(System.getenv("WEBHOOK_SECRET"), id, timestamp, signature, body)) return 400
    when (val event = readEvent(body)) {
        is RefundPendingEvent -> event.data.run { store(event.sequence, clientReferenceId, requestKey, paymentStatus) }
        is RefundAuthorizedEvent -> event.data.run { store(event.sequence, clientReferenceId, requestKey, paymentStatus) }
        is RefundTerminalFailedEvent -> event.data.run { store(event.sequence, clientReferenceId, requestKey, paymentStatus) }
    }
    return 204
}

/** Takes an event that is newer than what is known; repeats, and statuses of later versions, change nothing. */
fun store(sequence: Int, reference: String?, requestKey: String, status: String) {
    if (reference == null || status !in STATUSES) return
    if (sequence > (read(reference)?.sequence ?: 0)) write(reference, Stored(requestKey, sequence, status))
}

fun issue(body: String) {
    val order = JsonParser.parseString(body).asJsonObject.asMap().mapValues { it.value.asString }
    val reference = order.getValue("reference")
    // If it is known, it is the same decision to refund, after a run that did not finish.
    val refund = read(reference) ?: Stored(UUID.randomUUID().toString(), 0, "-")
    write(reference, refund)
    ApiClient.accessToken = order["token"]
    val amount = Amount(Amount.Currency.uSD, order.getValue("amount").toDouble())
    val request = RefundRequest(order.getValue("paymentId"), amount, refund.requestKey, clientReferenceId = reference)
    try {
        val status = refundOnce(RefundsApi(order.getValue("url"), withoutRedirects), request)
        if (read(reference)?.sequence == 0) write(reference, Stored(refund.requestKey, 0, status ?: "-"))
    } catch (_: IOException) {
        // It is run again with the stored key.
    } catch (_: ServerException) {
    } catch (_: ClientException) {
    }
}

/** The whole system of a merchant, as small as it can be, for the exam. Requests are handled one after the other. */
object Exam {
    @JvmStatic
    fun main(arguments: Array<String>) {
        FOLDER.mkdir()
        val server = HttpServer.create(InetSocketAddress("127.0.0.1", System.getenv("PORT").toInt()), 128)
        server.createContext("/") { exchange ->
            val body = exchange.requestBody.readBytes().decodeToString()
            var text = ""
            val status = when (exchange.requestURI.path) {
                "/webhooks" -> receive(exchange, body)
                "/refund" -> 204.also { issue(body) }
                else -> {
                    val reference = exchange.requestURI.query.substringAfter("reference=").substringBefore("&")
                    text = read(reference)?.status ?: ""
                    200
                }
            }
            exchange.sendResponseHeaders(status, if (text == "") -1 else text.length.toLong())
            exchange.responseBody.write(text.toByteArray())
            exchange.close()
        }
        server.start()
    }
}
