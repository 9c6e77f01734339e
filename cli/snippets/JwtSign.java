import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;

/**
 * A token for the Authorization header of a webhook, with the standard library; com.nimbusds:nimbus-jose-jwt has the
 * other algorithms: HOOKPROOF_KEY=private.pem java JwtSign.java &lt;kid&gt; &lt;listener URL&gt; &lt;tenant's base URL&gt;
 * &lt;event id&gt; &lt; body.json
 */
public class JwtSign {
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

  public static void main(String[] args) throws Exception {
    String file = System.getenv("HOOKPROOF_KEY");
    if (file == null || !Files.isReadable(Path.of(file)) || Files.isDirectory(Path.of(file)) || args.length < 4) {
      System.err.println("Set HOOKPROOF_KEY to a PEM file with the private key, and give a kid, two URLs and an event id.");
      System.exit(2);
    }
    String pem = Files.readString(Path.of(file)).replaceAll("-----[^-]+-----|\\s", "");
    PrivateKey key =
        KeyFactory.getInstance("RSA").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem)));
    System.out.println(webhookToken(key, args[0], args[1], args[2], args[3], System.in.readAllBytes()));
  }
}
