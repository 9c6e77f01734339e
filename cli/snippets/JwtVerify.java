import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.List;

/**
 * Checks the token of a webhook whose body is on standard input, with the standard library, and Jackson for JSON;
 * com.nimbusds:nimbus-jose-jwt has the other algorithms, and fetches the sender's key set, which has the key of the
 * token's kid: HOOKPROOF_KEY=public.pem java -cp ... JwtVerify.java &lt;listener URL&gt; &lt;tenant's base URL&gt;
 * &lt;event id&gt; &lt;token&gt; &lt; body.json
 */
public class JwtVerify {
  static byte[] decoded(String part) {
    byte[] bytes = Base64.getUrlDecoder().decode(part);
    // Only one text stands for the same bytes.
    if (Base64.getUrlEncoder().withoutPadding().encodeToString(bytes).equals(part)) return bytes;
    throw new IllegalArgumentException("not canonical");
  }

  static boolean isGenuine(
      PublicKey key, String url, String baseUrl, String eventId, String token, byte[] body, long now)
      throws Exception {
    if (!eventId.matches("(?i)[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")) return false;
    String[] parts = token.split("\\.", -1);
    if (parts.length != 3) return false;
    JsonNode header;
    JsonNode claims;
    try {
      // One JSON value, and nothing behind it.
      ObjectMapper json = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
      header = json.readTree(decoded(parts[0]));
      claims = json.readTree(decoded(parts[1]));
      Signature signature = Signature.getInstance("SHA256withRSA");
      signature.initVerify(key);
      signature.update((parts[0] + "." + parts[1]).getBytes(UTF_8));
      // The algorithm is fixed here, and never chosen by the token.
      if (!header.path("alg").asText().equals("RS256") || !signature.verify(decoded(parts[2]))) return false;
    } catch (IllegalArgumentException | java.io.IOException | SignatureException refused) {
      return false;
    }
    for (String name : List.of("crit", "b64", "jwk", "jku", "x5u", "x5c")) if (header.has(name)) return false;
    JsonNode exp = claims.path("exp");
    // The body has to be the bytes as received: parse it afterwards.
    byte[] hash = MessageDigest.getInstance("SHA-256").digest(body);
    String expected = Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
    return exp.isIntegralNumber()
        && exp.canConvertToLong()
        && exp.longValue() > now
        && exp.longValue() <= now + 600
        && (!claims.has("nbf") || (claims.get("nbf").isNumber() && claims.get("nbf").doubleValue() <= now))
        && isText(claims, "sub", baseUrl)
        && isText(claims, "aud", url)
        && isText(claims, "htm", "POST")
        && claims.path("jti").isTextual()
        && claims.get("jti").textValue().equalsIgnoreCase(eventId)
        && claims.path("htb_s256").isTextual()
        && MessageDigest.isEqual(expected.getBytes(UTF_8), claims.get("htb_s256").textValue().getBytes(UTF_8));
  }

  static boolean isText(JsonNode claims, String name, String wanted) {
    return claims.path(name).isTextual() && claims.get(name).textValue().equals(wanted);
  }

  public static void main(String[] args) throws Exception {
    String file = System.getenv("HOOKPROOF_KEY");
    if (file == null || !Files.isReadable(Path.of(file)) || Files.isDirectory(Path.of(file)) || args.length < 4) {
      System.err.println("Set HOOKPROOF_KEY to a PEM file with the public key, and give two URLs, an event id and a token.");
      System.exit(2);
    }
    String pem = Files.readString(Path.of(file)).replaceAll("-----[^-]+-----|\\s", "");
    PublicKey key =
        KeyFactory.getInstance("RSA").generatePublic(new X509EncodedKeySpec(Base64.getDecoder().decode(pem)));
    long now = args.length > 4 ? Long.parseLong(args[4]) : System.currentTimeMillis() / 1000;
    boolean genuine = isGenuine(key, args[0], args[1], args[2], args[3], System.in.readAllBytes(), now);
    System.out.println(genuine ? "genuine" : "refused");
    System.exit(genuine ? 0 : 1);
  }
}
