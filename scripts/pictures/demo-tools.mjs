// The servers of demo-server.mjs: their tools, how long these take (ms), and how often they fail.
const text = (description) => ({ type: "string", description });
const number = (description) => ({ type: "integer", description });

const toolWith =
  (annotations) =>
  (name, description, properties, more = {}) => ({
    name,
    description,
    annotations,
    inputSchema: { type: "object", properties, required: Object.keys(properties).slice(0, 1) },
    ...more,
  });
const reads = toolWith({ readOnlyHint: true });
const writes = toolWith({ readOnlyHint: false, destructiveHint: false });
const destroys = toolWith({ readOnlyHint: false, destructiveHint: true });

const repository = { repo: text("owner/name"), number: number("Number of the issue or pull request.") };
const path = { path: text("Path below the shared folder.") };

export const SERVERS = {
  github: {
    tools: [
      reads(
        "list_issues",
        "List issues of a repository.",
        {
          repo: text("owner/name"),
          state: { enum: ["open", "closed", "all"] },
          labels: { type: "array", items: { type: "string" } },
        },
        {
          ms: 240,
          answers: {
            issues: [
              { number: 412, title: "Login fails on Safari", state: "open" },
              { number: 409, title: "Slow search", state: "open" },
            ],
          },
        },
      ),
      writes(
        "create_issue",
        "Create an issue in a repository.",
        { repo: text("owner/name"), title: text("Title."), body: text("Text, in Markdown.") },
        {
          ms: 380,
          fails: {
            share: 0.2,
            text: "403 Resource not accessible by personal access token: the token lacks the scope issues:write",
          },
        },
      ),
      reads(
        "search_code",
        "Search code in all repositories you can see.",
        { query: text("Words, with qualifiers such as language:ts.") },
        {
          ms: 900,
          fails: { share: 0.3, text: "API rate limit exceeded for user ID 4711. Retry after 41 seconds." },
        },
      ),
      reads("get_pull_request", "Get one pull request with its checks.", repository, { ms: 310 }),
      destroys("merge_pull_request", "Merge a pull request.", repository, { ms: 600 }),
      destroys("delete_repository", "Delete a repository for ever.", { repo: text("owner/name") }),
    ],
  },
  postgres: {
    tools: [
      reads(
        "query",
        "Run a read-only SQL statement.",
        { sql: text("One statement.") },
        {
          ms: 90,
          fails: { share: 0.06, text: 'relation "order_items" does not exist at character 15' },
          answers: {
            rows: [
              { id: 1, total: 1290 },
              { id: 2, total: 480 },
            ],
          },
        },
      ),
      reads(
        "list_tables",
        "List tables with their number of rows.",
        { schema: text("Name of the schema.") },
        { ms: 30 },
      ),
      destroys("drop_table", "Drop a table with all of its rows.", {
        table: text("Name of the table."),
        cascade: { type: "boolean" },
      }),
    ],
  },
  slack: {
    tools: [
      writes(
        "post_message",
        "Post a message in a channel.",
        { channel: text("Name of the channel."), text: text("The message.") },
        { ms: 700, fails: { share: 0.05, text: "channel_not_found" } },
      ),
      reads("search_messages", "Search messages you can read.", { query: text("Words.") }, { ms: 1400 }),
      reads("list_channels", "List public channels.", { limit: number("At most this many.") }, { ms: 260 }),
    ],
  },
  files: {
    tools: [
      reads("read_file", "Read a text file.", path, {
        ms: 4,
        fails: { share: 0.12, text: "ENOENT: no such file or directory, open 'notes/2026/plan.md'" },
      }),
      reads("list_folder", "List a folder.", path, { ms: 6 }),
      destroys(
        "write_file",
        "Write a text file. Replaces an old one.",
        { ...path, content: text("The new content.") },
        { ms: 9 },
      ),
      destroys("delete_file", "Delete a file.", path, { ms: 5 }),
    ],
  },
  browser: {
    tools: [
      reads(
        "open_page",
        "Open an address and return the text of the page.",
        { url: text("The address.") },
        {
          ms: 2600,
          fails: { share: 0.1, text: "Timeout 30000 ms exceeded while waiting for the page to load" },
        },
      ),
      reads("screenshot", "Take a picture of the page.", { width: number("In pixels.") }, { ms: 1800 }),
    ],
  },
  billing: {
    tools: [
      reads(
        "list_invoices",
        "List invoices of a customer.",
        { customer: text("Number of the customer.") },
        { ms: 160, answers: { invoices: [{ id: "in_118", total: "129.00", paid: true }] } },
      ),
      destroys(
        "refund",
        "Pay an invoice back.",
        { invoice: text("Number of the invoice."), amount: number("In cents.") },
        { ms: 420 },
      ),
    ],
  },
  calendar: {
    tools: [
      reads(
        "list_events",
        "List events between two days.",
        { from: text("First day."), to: text("Last day.") },
        { ms: 120 },
      ),
      writes(
        "create_event",
        "Create an event and invite people.",
        { title: text("Title."), at: text("When.") },
        { ms: 300 },
      ),
    ],
  },
  docs: {
    tools: [reads("search_docs", "Search the handbook.", { query: text("Words.") }, { ms: 55 })],
  },
  sentry: {
    tools: [],
    starts: "Error: SENTRY_AUTH_TOKEN is not set. Create a token with the scope event:read.",
  },
};
