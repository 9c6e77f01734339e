-- Enqueues in a transaction of SQL, and out of a trigger; any worker of the outbox signs and delivers.
-- psql postgres://localhost/app -v user=u_123 -f outbox-enqueue.sql
CREATE OR REPLACE FUNCTION tell_offboarding() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM hookproof.enqueue('offboarding', json_build_object('type', 'user.offboarded', 'userId', NEW.id),
    ordering_key => NEW.id);
  RETURN NEW;
END $$;

DROP TRIGGER IF EXISTS offboarded ON users;
CREATE TRIGGER offboarded AFTER UPDATE ON users FOR EACH ROW
  WHEN (OLD.active AND NOT NEW.active) EXECUTE FUNCTION tell_offboarding();

BEGIN;
UPDATE users SET active = false WHERE id = :'user';
SELECT hookproof.enqueue('audit', '{"type":"offboarding.requested"}');
COMMIT;
