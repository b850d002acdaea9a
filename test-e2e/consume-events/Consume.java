import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Consumes events and applies each of them once: java -cp 'jars/*' Consume.java brokers group database-file topic…
 * Prints each event that it applies as a line of JSON, and leaves its group on SIGTERM. Where Kafka has TLS and principals,
 * KAFKA_CA is the file of its authority, and KAFKA_USERNAME and KAFKA_PASSWORD are a SCRAM-SHA-512 login.
 */
public class Consume {
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] args) throws Exception {
    var settings = new HashMap<String, Object>(Map.of(
        "bootstrap.servers", args[0],
        "group.id", args[1],
        "auto.offset.reset", "earliest",
        "enable.auto.commit", false));
    if (System.getenv("KAFKA_CA") != null) settings.putAll(security());
    try (var database = DriverManager.getConnection("jdbc:h2:file:" + args[2]);
        var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer())) {
      database.createStatement().execute("CREATE TABLE IF NOT EXISTS handled (event_id UUID PRIMARY KEY)");
      database.createStatement().execute(
          "CREATE TABLE IF NOT EXISTS tally (type VARCHAR PRIMARY KEY, events BIGINT NOT NULL)");
      database.setAutoCommit(false);
      wakeOnStop(consumer);
      consumer.subscribe(Arrays.asList(args).subList(3, args.length));
      while (true) {
        for (var record : consumer.poll(Duration.ofSeconds(1))) handle(database, record);
        consumer.commitAsync();
      }
    } catch (WakeupException stopped) {
      // The signal to stop: what was opened is closed by now.
    }
  }

  private static Map<String, Object> security() {
    String login = "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"%s\" password=\"%s\";";
    return Map.of(
        "security.protocol", "SASL_SSL",
        "ssl.truststore.type", "PEM",
        "ssl.truststore.location", System.getenv("KAFKA_CA"),
        "sasl.mechanism", "SCRAM-SHA-512",
        "sasl.jaas.config", login.formatted(System.getenv("KAFKA_USERNAME"), System.getenv("KAFKA_PASSWORD")));
  }

  private static void handle(Connection database, ConsumerRecord<String, byte[]> record) throws Exception {
    // A tombstone of a state topic: a consumer that keeps records by key deletes this one.
    if (record.value() == null) return;
    JsonNode data = JSON.readTree(record.value());
    ObjectNode event = JSON.createObjectNode()
        .put("id", header(record, "ce_id"))
        .put("type", header(record, "ce_type"))
        .put("key", record.key())
        .set("data", data);
    // The effect and the memory of it are one transaction, so neither is ever there without the other.
    boolean isNew = update(database,
        "INSERT INTO handled SELECT ? WHERE NOT EXISTS (SELECT FROM handled WHERE event_id = ?)",
        event.get("id").asText(), event.get("id").asText()) == 1;
    if (isNew && update(database, "UPDATE tally SET events = events + 1 WHERE type = ?", event.get("type").asText()) == 0) {
      update(database, "INSERT INTO tally VALUES (?, 1)", event.get("type").asText());
    }
    database.commit();
    if (isNew) System.out.println(event);
  }

  private static String header(ConsumerRecord<String, byte[]> record, String name) {
    return new String(record.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
  }

  private static int update(Connection database, String sql, String... values) throws SQLException {
    try (PreparedStatement statement = database.prepareStatement(sql)) {
      for (int index = 0; index < values.length; index++) statement.setString(index + 1, values[index]);
      return statement.executeUpdate();
    }
  }

  private static void wakeOnStop(KafkaConsumer<?, ?> consumer) {
    Thread main = Thread.currentThread();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      consumer.wakeup();
      try {
        main.join();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }));
  }
}
