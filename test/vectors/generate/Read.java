// Reads a JSON list of URLs, without escapes, from standard input as java.net.URI does; writes a line of JSON for each.
import java.net.URI;
import java.util.regex.Pattern;

class Read {
  public static void main(String[] args) throws Exception {
    String given = new String(System.in.readAllBytes(), "UTF-8");
    var texts = Pattern.compile("\"([^\"]*)\"").matcher(given);
    while (texts.find()) {
      try {
        URI uri = URI.create(texts.group(1)).normalize();
        String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
        String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
        System.out.println("{\"host\":\"" + uri.getRawAuthority().toLowerCase() + "\",\"target\":\"" + path + query + "\"}");
      } catch (IllegalArgumentException error) {
        System.out.println("{\"error\":\"none\"}");
      }
    }
  }
}
