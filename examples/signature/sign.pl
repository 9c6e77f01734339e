# The Webhook-Signature of a body on standard input, with Perl's core modules alone:
#   HOOKPROOF_SECRET=... perl sign.pl <timestamp> <event id> < body.json
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256_base64);

sub webhook_signature {
    my ($secret, $timestamp, $event_id, $body) = @_;
    # The key is the secret's text itself, not what it decodes to. Perl's base64 has no padding already.
    return hmac_sha256_base64("$timestamp.$event_id.$body", $secret) =~ tr{+/}{-_}r;
}

if (($ENV{HOOKPROOF_SECRET} // '') eq '' || @ARGV < 2) {
    print STDERR "Set HOOKPROOF_SECRET to the listener's secret, and give a timestamp and an event id.\n";
    exit 2;
}
binmode STDIN;
my $body = do { local $/; <STDIN> // '' };
print webhook_signature($ENV{HOOKPROOF_SECRET}, @ARGV[0, 1], $body), "\n";
