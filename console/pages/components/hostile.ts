/**
 * Text as a hostile server might send it: markup, control characters and characters that reverse text. It
 * must be shown as plain text.
 */
export const HOSTILE =
  '<img src=x onerror="alert(1)"><script>alert(2)</script> \u202eevil\u202c \u0007\u001b[31mred\u001b[0m \u200binvisible\u2066';
