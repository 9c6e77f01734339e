import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Base64;
import java.util.UUID;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Signs a body on standard input and sends it, with the standard library alone:
 * HOOKPROOF_SECRET=... java HmacSend.java [listener URL] [event id] &lt; body.json
 */
public class HmacSend {
  static final String LISTENER = "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local";

  static HttpResponse<String> sendWebhook(String url, String secret, String eventId, byte[] body)
      throws Exception {
    String timestamp = Long.toString(System.currentTimeMillis() / 1000); // fresh for each attempt
    Mac mac = Mac.getInstance("HmacSHA256");
    // The key is the secret's text itself, and the bytes that are signed are the bytes that are sent.
    mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
    mac.update((timestamp + "." + eventId + ".").getBytes(UTF_8));
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .timeout(Duration.ofSeconds(10))
            .header("Content-Type", "application/json")
            .header("Webhook-Timestamp", timestamp)
            .header("Webhook-Event-Id", eventId)
            .header("Webhook-Signature", Base64.getUrlEncoder().withoutPadding().encodeToString(mac.doFinal(body)))
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
  }

  public static void main(String[] args) throws Exception {
    String secret = System.getenv("HOOKPROOF_SECRET");
    if (secret == null || secret.isEmpty()) {
      System.err.println("Set HOOKPROOF_SECRET to the listener's secret.");
      System.exit(2);
    }
    String url = args.length > 0 ? args[0] : LISTENER;
    String eventId = args.length > 1 ? args[1] : UUID.randomUUID().toString();
    byte[] body = System.in.readAllBytes();
    try {
      HttpResponse<String> answer = sendWebhook(url, secret, eventId, body);
      System.out.println(answer.statusCode() + " " + answer.body());
      // 409 says that an earlier attempt with this id was processed.
      System.exit(answer.statusCode() < 300 || answer.statusCode() == 409 ? 0 : 1);
    } catch (IOException error) {
      System.err.println("no answer: " + error);
      System.exit(1);
    }
  }
}
