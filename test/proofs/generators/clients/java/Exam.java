import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.model.*;

/** The whole system of a merchant, as small as it can be, for the exam. Requests are handled one after the other. */
public final class Exam {
  /** What this system knows about a refund; each is a file, where yours has a database. */
  record Stored(String requestKey, int sequence, String status) {}

  private static final Path FOLDER = Path.of("refunds");
  private static final Set<String> STATUSES = Set.of("PENDING", "AUTHORIZED", "TERMINAL_FAILED");
  private static final ApiClient CLIENT = new ApiClient();

  public static void main(String[] arguments) throws Exception {
    Files.createDirectories(FOLDER);
    int port = Integer.parseInt(System.getenv("PORT"));
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 128);
    server.createContext("/", Exam::handle);
    server.start();
  }

  private static void handle(HttpExchange exchange) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    byte[] text = {};
    int status = 200;
    try {
      switch (exchange.getRequestURI().getPath()) {
        case "/webhooks" -> status = receive(exchange.getRequestHeaders(), body);
        case "/refund" -> issue(body);
        default -> text = statusOf(exchange.getRequestURI().getQuery()).getBytes();
      }
    } catch (Exception error) {
      error.printStackTrace();
      status = 500;
    }
    exchange.sendResponseHeaders(status, text.length == 0 ? -1 : text.length);
    exchange.getResponseBody().write(text);
    exchange.close();
  }

  private static Stored read(String reference) throws IOException {
    Path file = FOLDER.resolve(reference);
    if (!Files.exists(file)) return null;
    String[] parts = Files.readString(file).split(" ");
    return new Stored(parts[0], Integer.parseInt(parts[1]), parts[2]);
  }

  private static void write(String reference, Stored refund) throws IOException {
    Path file = FOLDER.resolve(reference + ".new");
    Files.writeString(file, refund.requestKey + " " + refund.sequence + " " + refund.status);
    Files.move(file, FOLDER.resolve(reference), StandardCopyOption.REPLACE_EXISTING);
  }

  private static String statusOf(String query) throws IOException {
    for (String pair : query.split("&")) {
      Stored refund = pair.startsWith("reference=") ? read(pair.substring("reference=".length())) : null;
      if (refund != null) return refund.status;
    }
    return "";
  }

  private static int receive(Headers headers, String body) throws Exception {
    String id = first(headers, "webhook-id");
    String timestamp = first(headers, "webhook-timestamp");
    String signature = first(headers, "webhook-signature");
    if (!Refunds.isGenuine(System.getenv("WEBHOOK_SECRET"), id, timestamp, signature, body)) return 400;
    Object event = Refunds.readEvent(CLIENT.getObjectMapper(), body);
    if (event instanceof RefundPendingEvent e) store(e.getSequence(), e.getData());
    if (event instanceof RefundAuthorizedEvent e) store(e.getSequence(), e.getData());
    if (event instanceof RefundTerminalFailedEvent e) {
      FailedRefundEventData data = e.getData();
      RefundEventData shared = new RefundEventData().clientReferenceId(data.getClientReferenceId());
      store(e.getSequence(), shared.requestKey(data.getRequestKey()).paymentStatus(data.getPaymentStatus()));
    }
    return 204;
  }

  private static String first(Headers headers, String name) {
    String value = headers.getFirst(name);
    return value == null ? "" : value;
  }

  /** Takes an event that is newer than what is known; repeats, and statuses of later versions, change nothing. */
  private static void store(int sequence, RefundEventData data) throws IOException {
    Stored known = read(data.getClientReferenceId());
    boolean isNewer = known == null || sequence > known.sequence;
    if (isNewer && STATUSES.contains(data.getPaymentStatus()))
      write(data.getClientReferenceId(), new Stored(data.getRequestKey(), sequence, data.getPaymentStatus()));
  }

  private static void issue(String body) throws Exception {
    Map<?, ?> order = CLIENT.getObjectMapper().readValue(body, Map.class);
    String reference = (String) order.get("reference");
    // If it is known, it is the same decision to refund, after a run that did not finish.
    Stored refund = read(reference);
    if (refund == null) refund = new Stored(UUID.randomUUID().toString(), 0, "-");
    write(reference, refund);
    ApiClient client = new ApiClient();
    client.updateBaseUri((String) order.get("url"));
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + order.get("token")));
    Amount amount = new Amount().currency(Amount.CurrencyEnum.USD).value(Double.valueOf((String) order.get("amount")));
    RefundRequest request = new RefundRequest().paymentId((String) order.get("paymentId")).amount(amount);
    try {
      String status = Refunds.refundOnce(client, request.clientReferenceId(reference).requestKey(refund.requestKey));
      if (read(reference).sequence == 0) write(reference, new Stored(refund.requestKey, 0, status == null ? "-" : status));
    } catch (ApiException unknown) {
      // It is run again with the stored key.
    }
  }
}
