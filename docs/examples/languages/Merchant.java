import java.nio.file.*;
import java.security.MessageDigest;
import java.util.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.openapitools.client.*;
import org.openapitools.client.model.*;
import static java.nio.file.StandardOpenOption.*;
// A merchant's program: `refund PAYMENT AMOUNT REFERENCE` issues a refund safely, `receive ID TIME SIGNATURES` takes an event from standard input.
class Merchant {
  static Object refund(ApiClient client, RefundRequest request) throws Exception {
    for (int attempt = 0; attempt < 4; attempt++) {
      try {
        return new org.openapitools.client.api.RefundsApi(client).issueRefund(request).getPaymentStatus();
      } catch (ApiException error) {
        int status = error.getCode(); // 0 without a response
        if (status == 409) {
          var found = client.getObjectMapper().readValue(error.getResponseBody(), DuplicateRequestKeyProblem.class).getExisting();
          boolean ours = request.getPaymentId().equals(found.getOriginalPaymentId()) && request.getAmount().equals(found.getAmount())
            && request.getClientReferenceId().equals(found.getClientReferenceId());
          return ours ? found.getPaymentStatus() : "conflict";
        }
        var result = client.getObjectMapper().readTree(new java.io.File("retries.json")).path(status + "").asText(); // by the contract
        // This alone shows that no attempt made the refund, of this run or of an earlier one.
        if (result.equals("none") && error.getResponseBody().contains("errorDetails")) return "none";
        if (status >= 300 && status < 500 && !result.equals("again")) return "unknown";
        var headers = error.getResponseHeaders();
        Thread.sleep((headers == null ? 0 : 1000 * headers.firstValueAsLong("Retry-After").orElse(0)) + (300L << attempt));
      }
    }
    return "unknown";
  }

  static int receive(String secret, String id, String timestamp, String signatures, byte[] body) throws Exception {
    byte[] key = Base64.getDecoder().decode(secret.replaceFirst("^whsec_", ""));
    long sent = timestamp.matches("[0-9]{1,12}") ? Long.parseLong(timestamp) : 0;
    if (key.length < 24 || Math.abs(System.currentTimeMillis() / 1000 - sent) > 300) return 400;
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    mac.update((id + "." + timestamp + ".").getBytes());
    byte[] expected = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes();
    if (Arrays.stream(signatures.split(" ")).noneMatch(given -> MessageDigest.isEqual(expected, given.getBytes()))) return 400;
    Path half = Files.createDirectories(Path.of("events")).resolve("." + UUID.randomUUID());
    Files.move(Files.write(half, body, CREATE_NEW, WRITE, SYNC), half.resolveSibling(id), StandardCopyOption.ATOMIC_MOVE); // one file for each id: a repeat changes nothing
    return 204;
  }

  public static void main(String[] given) throws Exception {
    if (given[0].equals("receive")) {
      System.out.println(receive(System.getenv("WEBHOOK_SECRET"), given[1], given[2], given[3], System.in.readAllBytes()));
      return;
    }
    ApiClient client = new ApiClient().setReadTimeout(java.time.Duration.ofSeconds(10));
    client.updateBaseUri(System.getenv("PAYMENTS_URL"));
    client.setRequestInterceptor(call -> call.header("Authorization", "Bearer " + System.getenv("PAYMENTS_TOKEN")));
    RefundRequest request = new RefundRequest().paymentId(given[1]).clientReferenceId(given[3]).requestKey(given[3]);
    request.setAmount(new Amount().currency(Amount.CurrencyEnum.USD).value(Double.valueOf(given[2])));
    System.out.println(refund(client, request));
  }
}
