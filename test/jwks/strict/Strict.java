// Reads pairs of a key set and a token as a strict verifier in Java does: one unfit key of a known kind refuses the set.
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.AlgorithmParameters;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.RSAPublicKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;

public class Strict {
  static final ObjectMapper JSON =
      new ObjectMapper()
          .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
  static final byte[] ED25519 = {0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0};

  static void need(boolean holds, String what) {
    if (!holds) throw new IllegalArgumentException(what);
  }

  static byte[] octets(JsonNode key, String name, int length) {
    String text = key.get(name).textValue();
    byte[] value = Base64.getUrlDecoder().decode(text);
    need(Base64.getUrlEncoder().withoutPadding().encodeToString(value).equals(text), "spelling of " + name);
    need(length == 0 ? value[0] != 0 : value.length == length, "octets of " + name);
    return value;
  }

  static PublicKey read(JsonNode key) throws Exception {
    if (key.has("key_ops")) {
      HashSet<String> seen = new HashSet<>();
      need(key.get("key_ops").isArray(), "key_ops");
      for (JsonNode one : key.get("key_ops"))
        need(seen.add(one.textValue()) && List.of("sign", "verify").contains(one.textValue()), "key_ops");
    }
    switch (key.get("alg").textValue()) {
      case "RS256":
        need(key.get("kty").textValue().equals("RSA"), "kty");
        BigInteger n = new BigInteger(1, octets(key, "n", 0));
        need(n.bitLength() >= 2048, "short");
        return KeyFactory.getInstance("RSA")
            .generatePublic(new RSAPublicKeySpec(n, new BigInteger(1, octets(key, "e", 0))));
      case "ES256":
        need(key.get("kty").textValue().equals("EC") && key.get("crv").textValue().equals("P-256"), "crv");
        AlgorithmParameters parameters = AlgorithmParameters.getInstance("EC");
        parameters.init(new ECGenParameterSpec("secp256r1"));
        ECParameterSpec curve = parameters.getParameterSpec(ECParameterSpec.class);
        BigInteger x = new BigInteger(1, octets(key, "x", 32));
        BigInteger y = new BigInteger(1, octets(key, "y", 32));
        BigInteger p = ((java.security.spec.ECFieldFp) curve.getCurve().getField()).getP();
        BigInteger right =
            x.pow(3).add(curve.getCurve().getA().multiply(x)).add(curve.getCurve().getB()).mod(p);
        need(y.multiply(y).mod(p).equals(right), "not on the curve");
        return KeyFactory.getInstance("EC").generatePublic(new ECPublicKeySpec(new ECPoint(x, y), curve));
      default:
        need(key.get("kty").textValue().equals("OKP") && key.get("crv").textValue().equals("Ed25519"), "crv");
        byte[] der = new byte[44];
        System.arraycopy(ED25519, 0, der, 0, 12);
        System.arraycopy(octets(key, "x", 32), 0, der, 12, 32);
        return KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(der));
    }
  }

  static void verify(String set, String token) throws Exception {
    String[] parts = token.split("\\.");
    JsonNode header = JSON.readTree(Base64.getUrlDecoder().decode(parts[0]));
    PublicKey found = null;
    for (JsonNode key : JSON.readTree(set).get("keys")) {
      String alg = key.path("alg").asText();
      if (!key.path("use").asText().equals("sig") || !List.of("RS256", "ES256", "EdDSA").contains(alg)) continue;
      if (key.path("crv").asText().equals("Ed448")) continue;
      PublicKey read = read(key);
      if (!key.get("kid").textValue().equals(header.get("kid").textValue())) continue;
      need(found == null && alg.equals(header.get("alg").textValue()), "kid or alg");
      found = read;
    }
    need(found != null, "no key");
    String alg = header.get("alg").textValue();
    Signature check =
        Signature.getInstance(
            alg.equals("RS256")
                ? "SHA256withRSA"
                : alg.equals("ES256") ? "SHA256withECDSAinP1363Format" : "Ed25519");
    check.initVerify(found);
    check.update((parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII));
    need(check.verify(Base64.getUrlDecoder().decode(parts[2])), "signature");
  }

  public static void main(String[] args) throws Exception {
    for (JsonNode pair : JSON.readTree(System.in.readAllBytes())) {
      try {
        verify(pair.get(0).textValue(), pair.get(1).textValue());
        System.out.println("taken");
      } catch (Exception error) {
        System.out.println("refused " + error.toString().replaceAll("\\s+", " "));
      }
    }
  }
}
