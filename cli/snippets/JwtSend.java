import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.util.Base64;
import java.util.UUID;

/**
 * Sends a body on standard input with a token for it, with the standard library; com.nimbusds:nimbus-jose-jwt has the
 * other algorithms: HOOKPROOF_KEY=private.pem java JwtSend.java &lt;kid&gt; [listener URL] [event id] &lt; body.json
 */
public class JwtSend {
  static final String LISTENER = "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local";

  static String base64url(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /** A text as JSON. URLs and ids need no more than this; take a JSON library for anything else. */
  static String json(String text) {
    if (text.matches("[^\"\\\\\\p{Cntrl}]*")) return '"' + text + '"';
    throw new IllegalArgumentException("a quote, a backslash or a control character");
  }

  static String webhookToken(
      PrivateKey key, String kid, String url, String baseUrl, String eventId, byte[] body)
      throws Exception {
    String header = String.format("{\"alg\":\"RS256\",\"kid\":%s,\"typ\":\"JWT\"}", json(kid));
    String claims =
        String.format(
            "{\"sub\":%s,\"aud\":%s,\"exp\":%d,\"jti\":%s,\"htm\":\"POST\",\"htb_s256\":%s}",
            json(baseUrl),
            json(url),
            System.currentTimeMillis() / 1000 + 300,
            json(eventId),
            json(base64url(MessageDigest.getInstance("SHA-256").digest(body))));
    String signed = base64url(header.getBytes(UTF_8)) + "." + base64url(claims.getBytes(UTF_8));
    Signature signature = Signature.getInstance("SHA256withRSA");
    signature.initSign(key);
    signature.update(signed.getBytes(UTF_8));
    return signed + "." + base64url(signature.sign());
  }

  static HttpResponse<String> sendWebhook(String url, String token, String eventId, byte[] body)
      throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .timeout(Duration.ofSeconds(10))
            .header("Content-Type", "application/json")
            .header("Webhook-Timestamp", Long.toString(System.currentTimeMillis() / 1000))
            .header("Webhook-Event-Id", eventId)
            .header("Authorization", "Bearer " + token)
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
  }

  public static void main(String[] args) throws Exception {
    String file = System.getenv("HOOKPROOF_KEY");
    if (file == null || !Files.isReadable(Path.of(file)) || Files.isDirectory(Path.of(file)) || args.length < 1) {
      System.err.println("Set HOOKPROOF_KEY to a PEM file with the private key, and give a kid.");
      System.exit(2);
    }
    String url = args.length > 1 ? args[1] : LISTENER;
    String eventId = args.length > 2 ? args[2] : UUID.randomUUID().toString();
    String baseUrl = url.split("/api/v1/")[0]; // the tenant's
    byte[] body = System.in.readAllBytes();
    String pem = Files.readString(Path.of(file)).replaceAll("-----[^-]+-----|\\s", "");
    PrivateKey key =
        KeyFactory.getInstance("RSA").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem)));
    String token = webhookToken(key, args[0], url, baseUrl, eventId, body); // fresh for each attempt
    try {
      HttpResponse<String> answer = sendWebhook(url, token, eventId, body);
      System.out.println(answer.statusCode() + " " + answer.body());
      // 409 says that an earlier attempt with this id was processed.
      System.exit(answer.statusCode() < 300 || answer.statusCode() == 409 ? 0 : 1);
    } catch (IOException error) {
      System.err.println("no answer: " + error);
      System.exit(1);
    }
  }
}
