// Not run by the tests of Hookproof, as .NET 8 is missing there: try it before you rely on it.
// A token for the Authorization header of a webhook, with .NET 8; the package System.IdentityModel.Tokens.Jwt has the
// other algorithms:
//   HOOKPROOF_KEY=private.pem JwtSign <kid> <listener URL> <tenant's base URL> <event id> < body.json
using System;
using System.Collections.Generic;
using System.IO;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

public static class JwtSign
{
    static string Base64Url(byte[] bytes) => Convert.ToBase64String(bytes).TrimEnd('=').Replace('+', '-').Replace('/', '_');

    static string WebhookToken(RSA key, string kid, string url, string baseUrl, string eventId, byte[] body)
    {
        var header = new Dictionary<string, object> { ["alg"] = "RS256", ["kid"] = kid, ["typ"] = "JWT" };
        var claims = new Dictionary<string, object>
        {
            ["sub"] = baseUrl,
            ["aud"] = url,
            ["exp"] = DateTimeOffset.UtcNow.ToUnixTimeSeconds() + 300,
            ["jti"] = eventId,
            ["htm"] = "POST",
            ["htb_s256"] = Base64Url(SHA256.HashData(body)),
        };
        string signed = Base64Url(JsonSerializer.SerializeToUtf8Bytes(header)) + "."
            + Base64Url(JsonSerializer.SerializeToUtf8Bytes(claims));
        byte[] signature = key.SignData(
            Encoding.ASCII.GetBytes(signed), HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        return signed + "." + Base64Url(signature);
    }

    public static int Main(string[] args)
    {
        string file = Environment.GetEnvironmentVariable("HOOKPROOF_KEY");
        if (!File.Exists(file) || args.Length < 4)
        {
            Console.Error.WriteLine("Set HOOKPROOF_KEY to a PEM file with the private key, and give a kid, two URLs and an event id.");
            return 2;
        }
        using var key = RSA.Create();
        key.ImportFromPem(File.ReadAllText(file));
        var body = new MemoryStream();
        Console.OpenStandardInput().CopyTo(body);
        Console.WriteLine(WebhookToken(key, args[0], args[1], args[2], args[3], body.ToArray()));
        return 0;
    }
}
