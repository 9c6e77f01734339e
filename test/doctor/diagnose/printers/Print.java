import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParser;
import java.util.LinkedHashMap;
import java.util.Map;

/** What Jackson, Gson and a map of Java print; the arguments are a plain body and one with numbers. */
public class Print {
  public static class Numbers {
    public double weight;
    public int count;
    public String none;
  }

  public static void main(String[] bodies) throws Exception {
    ObjectMapper jackson = new ObjectMapper();
    Gson gson = new Gson();
    Object plain = jackson.readValue(bodies[0], Object.class);
    Map<String, String> printed = new LinkedHashMap<>();
    printed.put("Jackson, DefaultPrettyPrinter", jackson.writerWithDefaultPrettyPrinter().writeValueAsString(plain));
    printed.put("Jackson, numbers", jackson.writeValueAsString(jackson.readValue(bodies[1], Object.class)));
    ObjectMapper nonNull = new ObjectMapper().setSerializationInclusion(JsonInclude.Include.NON_NULL);
    printed.put("Jackson, NON_NULL", nonNull.writeValueAsString(nonNull.readValue("{\"weight\":2.5,\"count\":1,\"none\":null}", Numbers.class)));
    printed.put("Gson, an Object", gson.toJson(gson.fromJson(bodies[0], Object.class)));
    printed.put("Gson, a JsonElement", gson.toJson(JsonParser.parseString(bodies[0])));
    printed.put("Gson, serializeNulls", new GsonBuilder().serializeNulls().create().toJson(JsonParser.parseString(bodies[0])));
    printed.put("Gson, setPrettyPrinting", new GsonBuilder().serializeNulls().setPrettyPrinting().create().toJson(JsonParser.parseString(bodies[0])));
    printed.put("Java, Map.toString()", plain.toString());
    System.out.println(jackson.writeValueAsString(printed));
  }
}
