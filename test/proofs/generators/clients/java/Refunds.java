import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.RefundsApi;
import org.openapitools.client.model.*;

final class Refunds {
  private static final Map<String, Class<?>> EVENTS =
    Map.of(
      "refund.pending", RefundPendingEvent.class,
      "refund.authorized", RefundAuthorizedEvent.class,
      "refund.terminal_failed", RefundTerminalFailedEvent.class,
      "payment.settled", PaymentSettledEvent.class,
      "payment.failed", PaymentFailedEvent.class,
      "payment.covered", PaymentCoveredEvent.class,
      "account.linked", AccountLinkedEvent.class,
      "account.unlinked", AccountUnlinkedEvent.class,
      "customer.created", CustomerCreatedEvent.class);

  static Refund refund(RefundsApi api, String paymentId, BigDecimal amount, String requestKey) throws ApiException {
    // Refuses a third digit here, and sends 10.00, not the 1E+1 of stripTrailingZeros().
    double value = amount.setScale(2, RoundingMode.UNNECESSARY).doubleValue();
    Amount dollars = new Amount().currency(Amount.CurrencyEnum.USD).value(value);
    return api.issueRefund(new RefundRequest().paymentId(paymentId).amount(dollars).requestKey(requestKey));
  }

  /**
   * Repeats a call whose outcome is unknown, always with the same requestKey. Returns the status of the refund, or null if none was
   * made. After an exception, repeat it later with the same requestKey.
   */
  static String refundOnce(ApiClient client, RefundRequest request) throws Exception {
    client.setReadTimeout(Duration.ofSeconds(10)); // Java's HttpClient itself follows no redirect
    for (int attempt = 0; ; attempt += 1) {
      try {
        return new RefundsApi(client).issueRefund(request).getPaymentStatus().getValue();
      } catch (ApiException error) {
        int status = error.getCode();
        if (status == 409) return existingStatus(client.getObjectMapper(), request, error.getResponseBody());
        if (status >= 300 && status < 500 && status != 429) return null;
        if (attempt == 3) throw error;
        long seconds = error.getResponseHeaders() == null ? 0 : error.getResponseHeaders().firstValueAsLong("Retry-After").orElse(0);
        Thread.sleep(1000 * seconds + (300L << attempt));
      }
    }
  }

  /** The status of the refund that has the requestKey, if it is the one that was requested. */
  private static String existingStatus(ObjectMapper json, RefundRequest request, String body) throws JsonProcessingException {
    ExistingRecord existing = json.readValue(body, DuplicateRequestKeyProblem.class).getExisting();
    boolean isOurs = request.getPaymentId().equals(existing.getOriginalPaymentId()) && request.getAmount().equals(existing.getAmount());
    return isOurs ? existing.getPaymentStatus().getValue() : null;
  }

  static boolean isGenuine(String secret, String id, String timestamp, String signatures, String body) throws Exception {
    if (!timestamp.matches("\\d{1,12}")) return false;
    if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) > 300) return false;
    byte[] key = Base64.getDecoder().decode(secret.replaceFirst("^whsec_", "")); // throws if it isn't base64
    if (key.length < 24) throw new IllegalArgumentException("the secret is so short that others could guess it");
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    byte[] digest = mac.doFinal((id + "." + timestamp + "." + body).getBytes("UTF-8"));
    byte[] expected = ("v1," + Base64.getEncoder().encodeToString(digest)).getBytes("UTF-8");
    for (String signature : signatures.split(" ")) {
      if (MessageDigest.isEqual(expected, signature.getBytes("UTF-8"))) return true;
    }
    return false;
  }

  /** The event as an object of its own class, or null if it is newer than this client. */
  static Object readEvent(ObjectMapper json, String body) throws JsonProcessingException {
    Class<?> known = EVENTS.get(json.readTree(body).path("type").asText());
    return known == null ? null : json.readValue(body, known);
  }
}
