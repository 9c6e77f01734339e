// Not run by the tests of Hookproof, as .NET 8 is missing there: try it before you rely on it.
// Sends a body on standard input with a token for it, with .NET 8; the package System.IdentityModel.Tokens.Jwt has the
// other algorithms:
//   HOOKPROOF_KEY=private.pem JwtSend <kid> [listener URL] [event id] < body.json
using System;
using System.Collections.Generic;
using System.IO;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

public static class JwtSend
{
    const string Listener = "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local";

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

    static HttpResponseMessage SendWebhook(string url, string token, string eventId, byte[] body)
    {
        var handler = new HttpClientHandler { AllowAutoRedirect = false };
        using var client = new HttpClient(handler) { Timeout = TimeSpan.FromSeconds(10) };
        var request = new HttpRequestMessage(HttpMethod.Post, url) { Content = new ByteArrayContent(body) };
        request.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
        request.Headers.Add("Webhook-Timestamp", DateTimeOffset.UtcNow.ToUnixTimeSeconds().ToString());
        request.Headers.Add("Webhook-Event-Id", eventId);
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", token);
        return client.Send(request);
    }

    public static int Main(string[] args)
    {
        string file = Environment.GetEnvironmentVariable("HOOKPROOF_KEY");
        if (!File.Exists(file) || args.Length < 1)
        {
            Console.Error.WriteLine("Set HOOKPROOF_KEY to a PEM file with the private key, and give a kid.");
            return 2;
        }
        string url = args.Length > 1 ? args[1] : Listener;
        string eventId = args.Length > 2 ? args[2] : Guid.NewGuid().ToString();
        string baseUrl = url.Split("/api/v1/")[0]; // the tenant's
        using var key = RSA.Create();
        key.ImportFromPem(File.ReadAllText(file));
        var body = new MemoryStream();
        Console.OpenStandardInput().CopyTo(body);
        // Fresh for each attempt.
        string token = WebhookToken(key, args[0], url, baseUrl, eventId, body.ToArray());
        try
        {
            using HttpResponseMessage answer = SendWebhook(url, token, eventId, body.ToArray());
            using var reader = new StreamReader(answer.Content.ReadAsStream());
            int status = (int)answer.StatusCode;
            Console.WriteLine(status + " " + reader.ReadToEnd());
            // 409 says that an earlier attempt with this id was processed.
            return status < 300 || status == 409 ? 0 : 1;
        }
        catch (HttpRequestException error)
        {
            Console.Error.WriteLine("no answer: " + error.Message);
            return 1;
        }
    }
}
