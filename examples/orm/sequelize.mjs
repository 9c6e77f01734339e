// Stores a user and an event in one transaction of Sequelize.
import { DataTypes, QueryTypes, Sequelize } from "sequelize";
import { connectionString, offboarded, outbox } from "./outbox.mjs";

const sequelize = new Sequelize(connectionString, { logging: false });
const User = sequelize.define(
  "User",
  { id: { type: DataTypes.TEXT, primaryKey: true }, active: DataTypes.BOOLEAN },
  { tableName: "users", timestamps: false },
);

export const offboard = (userId) =>
  sequelize.transaction(async (transaction) => {
    await outbox.enqueue(offboarded(userId), {
      tx: (text, values) => sequelize.query(text, { bind: values, type: QueryTypes.SELECT, transaction }),
    });
    await User.create({ id: userId, active: false }, { transaction });
  });

export const close = () => sequelize.close();
