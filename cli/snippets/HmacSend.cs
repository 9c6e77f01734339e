// Signs a body on standard input and sends it, with .NET alone:
//   HOOKPROOF_SECRET=... HmacSend [listener URL] [event id] < body.json
using System;
using System.IO;
using System.Net;
using System.Security.Cryptography;
using System.Text;

public static class HmacSend
{
    const string Listener = "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local";

    static HttpWebResponse SendWebhook(string url, string secret, string eventId, byte[] body)
    {
        string timestamp = DateTimeOffset.UtcNow.ToUnixTimeSeconds().ToString(); // fresh for each attempt
        string signature;
        // The key is the secret's text itself, and the bytes that are signed are the bytes that are sent.
        using (var mac = new HMACSHA256(Encoding.UTF8.GetBytes(secret)))
        {
            byte[] front = Encoding.UTF8.GetBytes(timestamp + "." + eventId + ".");
            mac.TransformBlock(front, 0, front.Length, null, 0);
            mac.TransformFinalBlock(body, 0, body.Length);
            signature = Convert.ToBase64String(mac.Hash).TrimEnd('=').Replace('+', '-').Replace('/', '_');
        }
        // Old and new .NET have it; a program that runs on the new one alone takes HttpClient.
        var request = (HttpWebRequest)WebRequest.Create(url);
        request.Method = "POST";
        request.Timeout = 10000;
        request.AllowAutoRedirect = false;
        request.ContentType = "application/json";
        request.Headers["Webhook-Timestamp"] = timestamp;
        request.Headers["Webhook-Event-Id"] = eventId;
        request.Headers["Webhook-Signature"] = signature;
        try
        {
            using (Stream stream = request.GetRequestStream())
                stream.Write(body, 0, body.Length);
            return (HttpWebResponse)request.GetResponse();
        }
        catch (WebException error) when (error.Response is HttpWebResponse)
        {
            return (HttpWebResponse)error.Response;
        }
    }

    public static int Main(string[] args)
    {
        string secret = Environment.GetEnvironmentVariable("HOOKPROOF_SECRET");
        if (string.IsNullOrEmpty(secret))
        {
            Console.Error.WriteLine("Set HOOKPROOF_SECRET to the listener's secret.");
            return 2;
        }
        string url = args.Length > 0 ? args[0] : Listener;
        string eventId = args.Length > 1 ? args[1] : Guid.NewGuid().ToString();
        var body = new MemoryStream();
        Console.OpenStandardInput().CopyTo(body);
        try
        {
            using (HttpWebResponse answer = SendWebhook(url, secret, eventId, body.ToArray()))
            using (var reader = new StreamReader(answer.GetResponseStream()))
            {
                int status = (int)answer.StatusCode;
                Console.WriteLine(status + " " + reader.ReadToEnd());
                // 409 says that an earlier attempt with this id was processed.
                return status < 300 || status == 409 ? 0 : 1;
            }
        }
        catch (WebException error)
        {
            Console.Error.WriteLine("no answer: " + error.Message);
            return 1;
        }
    }
}
