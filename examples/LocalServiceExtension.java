import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The local service as an extension of JUnit 5, in one file and Java 17.
 *
 * <pre>@RegisterExtension static final LocalServiceExtension service = new LocalServiceExtension(FIXTURE);</pre>
 *
 * It is started before the class, on a free port with a database of its own, reset before each test, and stopped after
 * the class. HOOKPROOF is the command that is started: `hookproof` by default.
 */
public final class LocalServiceExtension implements BeforeAllCallback, BeforeEachCallback, AfterAllCallback {
  private static final Duration START = Duration.ofSeconds(30);
  private static final Duration STOP = Duration.ofSeconds(10);
  private static final HttpClient HTTP = HttpClient.newBuilder().connectTimeout(START).build();

  private final String fixture;
  private Path folder;
  private Process process;
  /** The class that it was started for: JUnit asks again for each class with @Nested inside of it. */
  private String startedFor;
  private String url;
  private String clientId;
  private String clientSecret;
  private String controlToken;

  /** What the service holds at the start: a fixture of Hookproof, in YAML or JSON. */
  public LocalServiceExtension(String fixture) {
    this.fixture = fixture;
  }

  public String url() {
    return url;
  }

  public String clientId() {
    return clientId;
  }

  public String clientSecret() {
    return clientSecret;
  }

  @Override
  public void beforeAll(ExtensionContext context) throws IOException, InterruptedException {
    if (startedFor != null) return;
    startedFor = context.getUniqueId();
    folder = Files.createTempDirectory("local-service-");
    var ready = folder.resolve("ready.json");
    var said = folder.resolve("said.txt");
    var file = Files.writeString(folder.resolve("fixture.yaml"), fixture);
    var command = System.getenv().getOrDefault("HOOKPROOF", "hookproof").split(" ");
    var options = List.of("service", "start", "--port", "0", "--db", folder.resolve("service.db").toString(),
        "--fixture", file.toString(), "--ready-file", ready.toString(), "--no-ui", "--quiet");
    process = new ProcessBuilder(Stream.concat(Stream.of(command), options.stream()).toList())
        .redirectErrorStream(true)
        .redirectOutput(said.toFile())
        .start();
    var until = System.nanoTime() + START.toNanos();
    while (!Files.exists(ready)) {
      if (!process.isAlive() || System.nanoTime() > until)
        throw new IOException("the service has not started: " + Files.readString(said).strip());
      Thread.sleep(20);
    }
    var addresses = Files.readString(ready);
    url = text("url", addresses);
    clientId = text("clientId", addresses);
    clientSecret = Files.readString(Path.of(text("clientSecretFile", addresses))).strip();
    controlToken = Files.readString(Path.of(text("controlTokenFile", addresses))).strip();
  }

  /** State, faults, clock and journal as they were at the start. */
  @Override
  public void beforeEach(ExtensionContext context) throws IOException, InterruptedException {
    control("POST", "reset", "{}");
  }

  /** JUnit calls this after a start that failed as well. */
  @Override
  public void afterAll(ExtensionContext context) throws IOException, InterruptedException {
    if (!context.getUniqueId().equals(startedFor)) return;
    startedFor = null;
    if (process != null) {
      process.destroy();
      if (!process.waitFor(STOP.toMillis(), TimeUnit.MILLISECONDS)) process.destroyForcibly().waitFor();
    }
    try (var files = Files.walk(folder)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }

  /** The remote control: faults, clock, reset, snapshots, journal, state. */
  public String control(String method, String path, String json) throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(URI.create(url + "/local/v1/" + path))
        .timeout(START)
        .header("Authorization", "Bearer " + controlToken)
        .header("Content-Type", "application/json")
        .method(method, BodyPublishers.ofString(json))
        .build();
    var answer = HTTP.send(request, BodyHandlers.ofString());
    if (answer.statusCode() != 200) throw new IOException("answered " + answer.body());
    return answer.body();
  }

  /** Lets an operation go wrong, until the next test: <code>fault("getAuthConfig", "{\"status\": 503}")</code>. */
  public void fault(String operation, String json) throws IOException, InterruptedException {
    control("PUT", "faults/" + operation, json);
  }

  /** How many requests there were for an operation since the test began. */
  public int requests(String operation) throws IOException, InterruptedException {
    var found = control("POST", "journal/search", "{\"operation\": \"" + operation + "\"}");
    return Integer.parseInt(first("\"count\":([0-9]+)", found));
  }

  /** What the service holds now, in the form of a fixture as JSON: the same state is the same text. */
  public String state() throws IOException, InterruptedException {
    return control("POST", "state/export", "{}");
  }

  /** A text of an answer. Java has no JSON of its own; use the library that your suite has. */
  private static String text(String name, String json) {
    return first("\"" + name + "\":\"([^\"\\\\]*)\"", json);
  }

  private static String first(String pattern, String text) {
    var found = Pattern.compile(pattern).matcher(text);
    if (!found.find()) throw new IllegalStateException("no " + pattern + " in " + text);
    return found.group(1);
  }
}
