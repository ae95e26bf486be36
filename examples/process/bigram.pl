#!/usr/bin/perl
# A bigram as a learner of wug, a next-symbol model: `{ name = "mine", command = ["perl", "bigram.pl"] }`
use strict;
use warnings;
use JSON::PP;

my $json = JSON::PP->new->canonical;
my @rows;
$| = 1;
while (my $line = <STDIN>) {
    my ($what, $message) = %{ $json->decode($line) };
    my $reply;
    if ($what eq 'hello') {
        $reply = { hello => { protocol => 1, roles => ['next-symbol'], version => '1' } };
    } elsif ($what eq 'fit') {    # strings begin and end with 0
        my $v = $message->{vocabulary};
        my @counts = map { [(0) x $v] } 1 .. $v;
        for my $string (@{ $message->{training}{strings} }) {
            $counts[$string->[$_]][$string->[$_ + 1]]++ for 0 .. $#$string - 1;
        }
        @rows = ();
        for my $row (@counts) {
            my $sum = 0;
            $sum += $_ for @$row;
            # Seventeen digits give the same number back.
            push @rows, '[' . join(',', map { sprintf '%.17g', $sum ? $_ / $sum : 1 / $v } @$row) . ']';
        }
        $reply = { fitted => {} };
    } elsif ($what eq 'ask') {    # a row of probabilities after each symbol
        my @answers = map { '[' . join(',', map { $rows[$_] } @$_) . ']' } @{ $message->{strings} };
        print '{"answers":[', join(',', @answers), "]}\n";
        next;
    } else {                      # goodbye
        last;
    }
    print $json->encode($reply), "\n";
}
