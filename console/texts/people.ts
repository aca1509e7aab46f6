/** Texts of the page People. */
import { plural } from "../format.ts";

export const peopleTexts = {
  title: "People",
  summary: (all: number, invited: number) =>
    `${plural(all, "account")}${invited > 0 ? `, ${count(invited)} not yet accepted` : ""}.`,
  list: "Accounts",
  search: "Search people",
  invite: "Invite person",
  columns: {
    email: "E-mail address",
    role: "Role",
    groups: "Groups",
    state: "State",
    login: "Logs in",
    lastLogin: "Last login",
    created: "Since",
    changed: "Changed",
  },
  notInLog: "not in the audit log",
  states: { active: "Active", invited: "Invited", disabled: "Disabled" },
  password: "with a password",
  issuer: (issuer: string) => `at ${issuer}`,
  you: "you",
  form: {
    title: "Invite a person",
    email: "E-mail address",
    role: "Role",
    groups: "Groups",
    groupsHint: "Enter adds a name. Endpoints and policies can name them.",
    submit: "Create invitation",
  },
  roles: {
    admin: "Manages everything: servers, access, people.",
    editor: "Changes namespaces and endpoints, turns servers on and off.",
    viewer: "Sees servers, tools, history and traffic.",
    member: "Uses endpoints, with their own keys and logins.",
  },
  invited: {
    title: "Send this link",
    text: (email: string) => `It lets ${email} choose a password. It works once, for seven days.`,
    done: "Done",
    again: "Create a new link",
  },
  drawer: {
    save: "Save",
    saved: "Saved. It applies from the next request on.",
    self: "This is your own account. Another administrator can change its role.",
    disable: "Disable",
    enable: "Enable",
    grants: "Clients that may act for this person",
    noGrants: "None. A client appears here after this person allowed it to use an endpoint.",
    ownGrants: "Clients that may act for you",
    noOwnGrants: "None. A client appears here after you allowed it to use an endpoint.",
    audit: "Show their calls and changes in the audit log",
    revoke: "Revoke",
    revoked: (client: string) => `${client} is no longer allowed`,
    columns: { client: "Client", endpoint: "Endpoint", used: "Last used" },
  },
  disable: {
    title: (email: string) => `Disable ${email}?`,
    text: "Their logins, keys, sessions and tokens end at once. You can enable the account again, but they must log in again.",
    done: (email: string) => `${email} is disabled`,
  },
  remove: {
    action: "Delete account",
    title: (email: string) => `Delete ${email}?`,
    text: "This also deletes their keys, logins and secrets and ends their sessions at once. This cannot be undone.",
    done: (email: string) => `${email} is deleted`,
  },
} as const;

function count(n: number): string {
  return plural(n, "invitation is", "invitations are");
}
