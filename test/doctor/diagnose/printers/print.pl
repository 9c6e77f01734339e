# What Perl prints; the arguments are a plain body and one with numbers.
use strict;
use warnings;
use Encode;
use JSON::PP;
my ($plain) = map { decode_utf8($_) } @ARGV;
my $value = JSON::PP->new->decode($plain);
print JSON::PP->new->ascii->encode({
  "Perl, canonical" => JSON::PP->new->canonical->encode($value),
  "Perl, canonical and pretty" => JSON::PP->new->canonical->pretty->indent_length(3)->encode($value),
  "Perl, canonical and ascii" => JSON::PP->new->canonical->ascii->encode($value),
}), "\n";
