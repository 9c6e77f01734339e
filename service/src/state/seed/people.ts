// The people of a seed.
import type { Fixture } from "../fixture.js";
import { type Draw, draw } from "./draw.js";

const GIVEN = [
  "Ada",
  "Aisha",
  "Amara",
  "Ana",
  "Anders",
  "Arjun",
  "Beatriz",
  "Chidi",
  "Chloé",
  "Dmitri",
  "Elif",
  "Emre",
  "Fatima",
  "Gabriel",
  "Hana",
  "Ines",
  "Ivan",
  "Jonas",
  "José",
  "Karim",
  "Keiko",
  "Lars",
  "Leïla",
  "Lucía",
  "Mateo",
  "Mei",
  "Mira",
  "Nadia",
  "Noah",
  "Olga",
  "Omar",
  "Priya",
  "Rafael",
  "Rosa",
  "Samir",
  "Sofia",
  "Tomás",
  "Uma",
  "Yusuf",
  "Zoë",
] as const;
const FAMILY = [
  "Abara",
  "Andersson",
  "Bauer",
  "Becker",
  "Castro",
  "Cohen",
  "Demir",
  "Diaz",
  "Eriksen",
  "Fernández",
  "Fischer",
  "García",
  "Haddad",
  "Horváth",
  "Ito",
  "Jansen",
  "Kaya",
  "Khan",
  "Kowalski",
  "Lindqvist",
  "López",
  "Martin",
  "Mensah",
  "Moreau",
  "Müller",
  "Nakamura",
  "Nguyen",
  "Novak",
  "Okafor",
  "Oliveira",
  "Patel",
  "Peña",
  "Petrov",
  "Rossi",
  "Sato",
  "Schmidt",
  "Silva",
  "Sørensen",
  "Tanaka",
  "Weber",
] as const;
const WORK = [
  ["Engineering", ["Software Engineer", "Staff Engineer", "Engineering Manager"]],
  ["Security", ["Security Engineer", "Security Analyst", "Incident Responder"]],
  ["Finance", ["Accountant", "Controller", "Financial Analyst"]],
  ["People", ["Recruiter", "People Partner", "Payroll Specialist"]],
  ["Sales", ["Account Executive", "Sales Engineer", "Sales Manager"]],
  ["Support", ["Support Engineer", "Support Lead", "Technical Writer"]],
] as const;
const CITIES = [
  "Amsterdam",
  "Bengaluru",
  "Berlin",
  "Lagos",
  "Lisbon",
  "Nairobi",
  "Oslo",
  "São Paulo",
  "Tokyo",
] as const;

/** Everybody reports to one of the first of them. */
const MANAGERS = 10;

/** The directory that all users of a seed come from. */
interface Directory {
  readonly id: string;
  /** What it maps to each attribute of a user, by the attribute. */
  readonly mappingIds: Readonly<Record<"department" | "jobTitle" | "manager", string>>;
}

/** The directory of a seed. */
export function directoryOf(seed: number): Directory {
  const mappingId = (n: number) => draw(seed, "mapping", n).id;
  return {
    id: draw(seed, "directory", 0).id,
    mappingIds: { department: mappingId(0), jobTitle: mappingId(1), manager: mappingId(2) },
  };
}

/** The n-th user of a seed that begins at `start`; the first is the one the seed's client acts as. */
export function user(
  seed: number,
  n: number,
  start: number,
  directory: Directory,
): NonNullable<Fixture["users"]>[number] {
  const chance = draw(seed, "user", n);
  const name = `${chance.pick(GIVEN)} ${chance.pick(FAMILY)}`;
  const [department, titles] = chance.pick(WORK);
  const jobTitle = chance.pick(titles);
  const login = `${plain(name)}.${n}`;
  const status = n === 0 ? "ENABLED" : statusOf(chance.below(100));
  const employmentType = chance.below(5) === 0 ? "Contractor" : "Employee";
  const managerIds = n === 0 ? [] : [draw(seed, "user", managerOf(n, chance)).id];
  const sourceOf = (attribute: keyof Directory["mappingIds"], value: string) => ({
    appId: directory.id,
    appUserId: login,
    appUserProfileAttributeKey: attribute,
    priority: 0,
    userAttributeMappingId: directory.mappingIds[attribute],
    value,
  });
  const at = (days: number) => new Date(start + n * 1_000 + days * 86_400_000).toISOString();
  return {
    id: chance.id,
    username: login,
    usernames: [login],
    displayName: name,
    email: `${login}@example.com`,
    emails: [`${login}@example.com`],
    department,
    jobTitle,
    employmentType,
    employmentStatus: status === "ENABLED" ? "Active" : "Inactive",
    employeeIds: [String(10_000 + n)],
    managerIds,
    roleIds: [],
    directoryIds: [directory.id],
    directoryStatus: status,
    status,
    type: "USER_TYPE_HUMAN",
    origin: "USER_ORIGIN_DIRECTORY",
    profile: { location: chance.pick(CITIES), costCenter: `CC-${100 + chance.below(20)}` },
    departmentSources: [sourceOf("department", department)],
    jobTitleSources: [sourceOf("jobTitle", jobTitle)],
    managerSources: managerIds.map((id) => sourceOf("manager", id)),
    createdAt: at(0),
    updatedAt: at(chance.below(30)),
    ...(status === "DELETED" ? { deletedAt: at(60) } : {}),
  };
}

function managerOf(n: number, chance: Draw): number {
  return chance.below(Math.min(n, MANAGERS));
}

function statusOf(percent: number): "ENABLED" | "DISABLED" | "DELETED" {
  if (percent === 0) return "DELETED";
  return percent <= 4 ? "DISABLED" : "ENABLED";
}

/** A name in the letters of an address: `José Peña` is `jose.pena`. */
function plain(name: string): string {
  return name.normalize("NFD").replace(/\p{M}/gu, "").replace("ø", "o").toLowerCase().replace(" ", ".");
}
