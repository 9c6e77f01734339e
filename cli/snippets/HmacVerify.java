import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Checks the Webhook-Signature of a body on standard input, with the standard library alone:
 * HOOKPROOF_SECRET=... java HmacVerify.java &lt;timestamp&gt; &lt;event id&gt; &lt;signature&gt; &lt; body.json
 */
public class HmacVerify {
  /** The body has to be the bytes as received: parse it afterwards. */
  static boolean isGenuine(
      String secret, String timestamp, String eventId, String signature, byte[] body, long now)
      throws Exception {
    if (!timestamp.matches("[0-9]{1,15}") || Math.abs(now - Long.parseLong(timestamp)) > 300) return false;
    // Nothing else ends the id: without its form a part of the body could be moved into it.
    if (!eventId.matches("(?i)[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")) return false;
    if (secret.isEmpty()) return false; // everybody can sign with it
    Mac mac = Mac.getInstance("HmacSHA256");
    // The key is the secret's text itself, not what it decodes to.
    mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
    mac.update((timestamp + "." + eventId + ".").getBytes(UTF_8));
    String expected = Base64.getUrlEncoder().withoutPadding().encodeToString(mac.doFinal(body));
    return MessageDigest.isEqual(expected.getBytes(UTF_8), signature.getBytes(UTF_8)); // in constant time
  }

  public static void main(String[] args) throws Exception {
    String secret = System.getenv("HOOKPROOF_SECRET");
    if (secret == null || secret.isEmpty() || args.length < 3) {
      System.err.println("Set HOOKPROOF_SECRET to the listener's secret, and give a timestamp, an event id and a signature.");
      System.exit(2);
    }
    long now = args.length > 3 ? Long.parseLong(args[3]) : System.currentTimeMillis() / 1000;
    byte[] body = System.in.readAllBytes();
    boolean genuine = isGenuine(secret, args[0], args[1], args[2], body, now);
    System.out.println(genuine ? "genuine" : "refused");
    System.exit(genuine ? 0 : 1);
  }
}
