// Checks the Webhook-Signature of a body on standard input, with .NET alone:
//   HOOKPROOF_SECRET=... HmacVerify <timestamp> <event id> <signature> < body.json
using System;
using System.IO;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

public static class HmacVerify
{
    // The body has to be the bytes as received: parse it afterwards.
    static bool IsGenuine(string secret, string timestamp, string eventId, string signature, byte[] body, long now)
    {
        if (!Regex.IsMatch(timestamp, "^[0-9]{1,15}\\z") || Math.Abs(now - long.Parse(timestamp)) > 300) return false;
        // Nothing else ends the id: without its form a part of the body could be moved into it.
        if (!Regex.IsMatch(eventId, "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}\\z")) return false;
        if (secret.Length == 0) return false; // everybody can sign with it
        // The key is the secret's text itself, not what it decodes to.
        using (var mac = new HMACSHA256(Encoding.UTF8.GetBytes(secret)))
        {
            byte[] front = Encoding.UTF8.GetBytes(timestamp + "." + eventId + ".");
            mac.TransformBlock(front, 0, front.Length, null, 0);
            mac.TransformFinalBlock(body, 0, body.Length);
            string expected = Convert.ToBase64String(mac.Hash).TrimEnd('=').Replace('+', '-').Replace('/', '_');
            // In constant time.
            return CryptographicOperations.FixedTimeEquals(
                Encoding.UTF8.GetBytes(expected), Encoding.UTF8.GetBytes(signature));
        }
    }

    public static int Main(string[] args)
    {
        string secret = Environment.GetEnvironmentVariable("HOOKPROOF_SECRET");
        if (string.IsNullOrEmpty(secret) || args.Length < 3)
        {
            Console.Error.WriteLine("Set HOOKPROOF_SECRET to the listener's secret, and give a timestamp, an event id and a signature.");
            return 2;
        }
        var body = new MemoryStream();
        Console.OpenStandardInput().CopyTo(body);
        long now = args.Length > 3 ? long.Parse(args[3]) : DateTimeOffset.UtcNow.ToUnixTimeSeconds();
        bool genuine = IsGenuine(secret, args[0], args[1], args[2], body.ToArray(), now);
        Console.WriteLine(genuine ? "genuine" : "refused");
        return genuine ? 0 : 1;
    }
}
