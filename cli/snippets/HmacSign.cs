// The Webhook-Signature of a body on standard input, with .NET alone:
//   HOOKPROOF_SECRET=... HmacSign <timestamp> <event id> < body.json
using System;
using System.IO;
using System.Security.Cryptography;
using System.Text;

public static class HmacSign
{
    static string WebhookSignature(string secret, string timestamp, string eventId, byte[] body)
    {
        // The key is the secret's text itself, not what it decodes to.
        using (var mac = new HMACSHA256(Encoding.UTF8.GetBytes(secret)))
        {
            byte[] front = Encoding.UTF8.GetBytes(timestamp + "." + eventId + ".");
            mac.TransformBlock(front, 0, front.Length, null, 0);
            mac.TransformFinalBlock(body, 0, body.Length);
            return Convert.ToBase64String(mac.Hash).TrimEnd('=').Replace('+', '-').Replace('/', '_');
        }
    }

    public static int Main(string[] args)
    {
        string secret = Environment.GetEnvironmentVariable("HOOKPROOF_SECRET");
        if (string.IsNullOrEmpty(secret) || args.Length < 2)
        {
            Console.Error.WriteLine("Set HOOKPROOF_SECRET to the listener's secret, and give a timestamp and an event id.");
            return 2;
        }
        var body = new MemoryStream();
        Console.OpenStandardInput().CopyTo(body);
        Console.WriteLine(WebhookSignature(secret, args[0], args[1], body.ToArray()));
        return 0;
    }
}
