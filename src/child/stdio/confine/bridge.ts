/**
 * The way from the network namespace of a server to its proxy: a forwarder inside of the sandbox, from a port
 * of the namespace to the Unix socket. It decides nothing. It is in Perl, which starts in a few milliseconds
 * and is part of most systems; Node would take longer than the whole sandbox.
 */

export const PROXY_PORT = 3128;
export const SOCKET_INSIDE = "/run/metamcp-egress";

/**
 * Listens, forks, and becomes the server: so the port is open before the server starts, and the server keeps
 * its place, its streams and its exit code. The fork forwards until the sandbox ends.
 */
const FORWARDER = `
use strict; use Socket; use Fcntl;
my ($port, $path) = splice @ARGV, 0, 2;
socket(my $door, PF_INET, SOCK_STREAM, 0) or die "socket: $!";
bind($door, sockaddr_in($port, INADDR_LOOPBACK)) or die "bind: $!";
listen($door, 128) or die "listen: $!";
my $pid = fork; defined $pid or die "fork: $!";
if ($pid) { close $door; exec {$ARGV[0]} @ARGV or die "$ARGV[0]: $!" }
open STDIN, "<", "/dev/null"; open STDOUT, ">", "/dev/null"; open STDERR, ">", "/dev/null";
$SIG{PIPE} = "IGNORE";
# By file number: the socket, the number of its other side, what waits to be written to it, and its end.
my (%socket, %other, %waiting, %ended);
sub add { my ($one, $two) = @_; fcntl $one, F_SETFL, O_NONBLOCK;
  my $at = fileno $one; $socket{$at} = $one; $other{$at} = fileno $two; $waiting{$at} = "" }
sub drop { my ($one) = @_; my $two = $other{$one};
  for ($one, $two) { close delete $socket{$_}; delete $other{$_}; delete $waiting{$_}; delete $ended{$_} } }
sub finish { my ($one) = @_; my $two = $other{$one};
  shutdown $socket{$two}, 1 if $ended{$one} && !length $waiting{$two};
  drop($one) if $ended{$one} && $ended{$two} && !length($waiting{$one} . $waiting{$two}) }
while (1) {
  my ($read, $write) = ("", "");
  vec($read, fileno $door, 1) = 1;
  for (keys %socket) {
    vec($read, $_, 1) = 1 unless $ended{$_} || length $waiting{$other{$_}};
    vec($write, $_, 1) = 1 if length $waiting{$_};
  }
  select($read, $write, undef, undef) > 0 or next;
  for my $one (keys %socket) {
    if (exists $socket{$one} && vec($write, $one, 1)) {
      my $done = syswrite $socket{$one}, $waiting{$one};
      if (defined $done) { substr($waiting{$one}, 0, $done) = ""; finish($other{$one}) }
      elsif (!$!{EAGAIN}) { drop($one) }
    }
    if (exists $socket{$one} && vec($read, $one, 1)) {
      my $got = sysread $socket{$one}, my $bytes, 65536;
      if ($got) { $waiting{$other{$one}} .= $bytes }
      elsif (defined $got) { $ended{$one} = 1; finish($one) }
      elsif (!$!{EAGAIN}) { drop($one) }
    }
  }
  if (vec($read, fileno $door, 1) && accept(my $in, $door)) {
    socket(my $out, PF_UNIX, SOCK_STREAM, 0);
    if (connect $out, sockaddr_un($path)) { add($in, $out); add($out, $in) }
    else { close $in; close $out }
  }
}`;

/** The words before the command of the server. */
export function bridgeTo(perl: string): readonly string[] {
  return [perl, "-e", FORWARDER, String(PROXY_PORT), SOCKET_INSIDE];
}

const ADDRESS = `http://127.0.0.1:${PROXY_PORT}`;
/** What stays in the namespace needs no proxy. */
const LOCAL = "localhost,127.0.0.1,::1";

/** Programs look for their proxy in these. */
export const PROXY_VARIABLES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [
      [name, ADDRESS],
      [name.toLowerCase(), ADDRESS],
    ]),
  ),
  NO_PROXY: LOCAL,
  no_proxy: LOCAL,
  NODE_USE_ENV_PROXY: "1",
};
