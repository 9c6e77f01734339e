# Enqueues in a transaction of Python, with psycopg; any worker of the outbox signs and delivers.
# DATABASE_URL=postgres://localhost/app python3 outbox-enqueue.py u_123 [...]
import json
import os
import sys
import uuid

import psycopg

with psycopg.connect(os.environ.get("DATABASE_URL", "postgres://localhost/app")) as connection:
    for user_id in sys.argv[1:]:
        with connection.transaction():
            connection.execute("UPDATE users SET active = false WHERE id = %s", [user_id])
            body = json.dumps({"type": "user.offboarded", "userId": user_id})
            # The same body under the same id is no second event: give one to what may be repeated.
            event_id = uuid.uuid4()
            connection.execute(
                "SELECT hookproof.enqueue('offboarding', %s, ordering_key => %s, event_id => %s)",
                [body, user_id, event_id],
            )
        print("offboarded", user_id, event_id)
