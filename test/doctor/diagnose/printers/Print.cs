using System;
using System.Collections.Generic;
using System.Web.Script.Serialization;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

/// <summary>What Json.NET and JavaScriptSerializer print; the arguments are a plain body and one with numbers.</summary>
public static class Print
{
    public class Numbers
    {
        public double weight;
        public int count;
        public string none;
    }

    public class Event
    {
        public int UserId { get; set; }
        public string Type { get; set; }
        public string Manager { get; set; }
    }

    public static void Main(string[] bodies)
    {
        // What looks like a date stays as it was written.
        var asWritten = new JsonSerializerSettings { DateParseHandling = DateParseHandling.None };
        var plain = JsonConvert.DeserializeObject<JObject>(bodies[0], asWritten);
        const string small = "{\"weight\":2.5,\"count\":1,\"none\":null}";
        const string renamed = "{\"userId\":4711,\"type\":\"user.offboarded\",\"manager\":null}";
        var typed = JsonConvert.DeserializeObject<Numbers>(small);
        var named = JsonConvert.DeserializeObject<Event>(renamed);
        var script = new JavaScriptSerializer();
        var printed = new Dictionary<string, string>
        {
            ["Json.NET, ToString()"] = plain.ToString(),
            ["Json.NET, a JObject of numbers"] = JsonConvert.SerializeObject(JsonConvert.DeserializeObject<JObject>(bodies[1])),
            ["Json.NET, EscapeNonAscii"] = JsonConvert.SerializeObject(plain, new JsonSerializerSettings { StringEscapeHandling = StringEscapeHandling.EscapeNonAscii }),
            ["Json.NET, EscapeHtml"] = JsonConvert.SerializeObject(plain, new JsonSerializerSettings { StringEscapeHandling = StringEscapeHandling.EscapeHtml }),
            ["Json.NET, NullValueHandling.Ignore"] = JsonConvert.SerializeObject(typed, new JsonSerializerSettings { NullValueHandling = NullValueHandling.Ignore }),
            ["Json.NET, a class"] = JsonConvert.SerializeObject(named),
            ["JavaScriptSerializer"] = script.Serialize(script.DeserializeObject(bodies[0])),
        };
        Console.WriteLine(JsonConvert.SerializeObject(printed));
    }
}
