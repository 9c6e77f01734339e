import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The Webhook-Signature of a body on standard input, with the standard library alone:
 * HOOKPROOF_SECRET=... java Sign.java &lt;timestamp&gt; &lt;event id&gt; &lt; body.json
 */
public class Sign {
  static String webhookSignature(String secret, String timestamp, String eventId, byte[] body)
      throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    // The key is the secret's text itself, not what it decodes to.
    mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
    mac.update((timestamp + "." + eventId + ".").getBytes(UTF_8));
    return Base64.getUrlEncoder().withoutPadding().encodeToString(mac.doFinal(body));
  }

  public static void main(String[] args) throws Exception {
    String secret = System.getenv("HOOKPROOF_SECRET");
    if (secret == null || secret.isEmpty() || args.length < 2) {
      System.err.println("Set HOOKPROOF_SECRET to the listener's secret, and give a timestamp and an event id.");
      System.exit(2);
    }
    byte[] body = System.in.readAllBytes();
    System.out.println(webhookSignature(secret, args[0], args[1], body));
  }
}
