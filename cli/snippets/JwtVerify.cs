// Not run by the tests of Hookproof, as .NET 8 is missing there: try it before you rely on it.
// Checks the token of a webhook whose body is on standard input, with .NET 8; the package
// Microsoft.IdentityModel.Protocols.OpenIdConnect fetches the sender's key set, which has the key of the token's kid:
//   HOOKPROOF_KEY=public.pem JwtVerify <listener URL> <tenant's base URL> <event id> <token> < body.json
using System;
using System.IO;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;

public static class JwtVerify
{
    static string Base64Url(byte[] bytes) => Convert.ToBase64String(bytes).TrimEnd('=').Replace('+', '-').Replace('/', '_');

    static byte[] Decoded(string part)
    {
        string padded = part.Replace('-', '+').Replace('_', '/').PadRight((part.Length + 3) / 4 * 4, '=');
        byte[] bytes = Convert.FromBase64String(padded);
        // Only one text stands for the same bytes.
        return Base64Url(bytes) == part ? bytes : throw new FormatException();
    }

    static string Text(JsonElement claims, string name) =>
        claims.TryGetProperty(name, out var value) && value.ValueKind == JsonValueKind.String ? value.GetString() : null;

    static bool IsGenuine(RSA key, string url, string baseUrl, string eventId, string token, byte[] body, long now)
    {
        if (!Regex.IsMatch(eventId, "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}\\z")) return false;
        string[] parts = token.Split('.');
        if (parts.Length != 3) return false;
        try
        {
            JsonElement header = JsonDocument.Parse(Decoded(parts[0])).RootElement;
            JsonElement claims = JsonDocument.Parse(Decoded(parts[1])).RootElement;
            // The algorithm is fixed here, and never chosen by the token.
            if (Text(header, "alg") != "RS256") return false;
            if (new[] { "crit", "b64", "jwk", "jku", "x5u", "x5c" }.Any(name => header.TryGetProperty(name, out _))) return false;
            byte[] signed = Encoding.ASCII.GetBytes(parts[0] + "." + parts[1]);
            if (!key.VerifyData(signed, Decoded(parts[2]), HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1)) return false;
            if (!claims.TryGetProperty("exp", out var exp) || exp.ValueKind != JsonValueKind.Number) return false;
            if (!exp.TryGetInt64(out long until) || until <= now || until > now + 600) return false;
            if (claims.TryGetProperty("nbf", out var nbf) && (nbf.ValueKind != JsonValueKind.Number || nbf.GetDouble() > now)) return false;
            // The body has to be the bytes as received: parse it afterwards.
            byte[] expected = Encoding.ASCII.GetBytes(Base64Url(SHA256.HashData(body)));
            return Text(claims, "sub") == baseUrl && Text(claims, "aud") == url && Text(claims, "htm") == "POST"
                && string.Equals(Text(claims, "jti"), eventId, StringComparison.OrdinalIgnoreCase)
                && CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(Text(claims, "htb_s256") ?? ""), expected);
        }
        catch (Exception refused) when (refused is FormatException or JsonException or InvalidOperationException)
        {
            return false;
        }
    }

    public static int Main(string[] args)
    {
        string file = Environment.GetEnvironmentVariable("HOOKPROOF_KEY");
        if (!File.Exists(file) || args.Length < 4)
        {
            Console.Error.WriteLine("Set HOOKPROOF_KEY to a PEM file with the public key, and give two URLs, an event id and a token.");
            return 2;
        }
        using var key = RSA.Create();
        key.ImportFromPem(File.ReadAllText(file));
        var body = new MemoryStream();
        Console.OpenStandardInput().CopyTo(body);
        long now = args.Length > 4 ? long.Parse(args[4]) : DateTimeOffset.UtcNow.ToUnixTimeSeconds();
        bool genuine = IsGenuine(key, args[0], args[1], args[2], args[3], body.ToArray(), now);
        Console.WriteLine(genuine ? "genuine" : "refused");
        return genuine ? 0 : 1;
    }
}
