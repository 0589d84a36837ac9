# An image with a release of timerd. It is built from the archive that `make release` writes, so that it holds the bytes whose
# checksums are published, and compiles nothing:
#
#   make image
#
# Its state is in /home/timerd/.timerd: mount a volume there. `timerd init`, or a network's genesis, comes first.
FROM debian:12-slim

# The release's directory name, such as timerd-1.0.0-linux-amd64.
ARG RELEASE
ADD build/release/${RELEASE}.tar.gz /opt/
RUN useradd --create-home --uid 10001 --shell /usr/sbin/nologin timerd \
 && install -d -o timerd -g timerd /home/timerd/.timerd \
 && ln -s "/opt/${RELEASE}/timerd" /usr/local/bin/timerd \
 && timerd version

USER timerd
WORKDIR /home/timerd
ENV TIMERD_HOME=/home/timerd/.timerd
VOLUME /home/timerd/.timerd
# P2P, RPC, REST, gRPC.
EXPOSE 26656 26657 1317 9090
# A node that is asked to end finishes its block.
STOPSIGNAL SIGTERM
ENTRYPOINT ["timerd"]
CMD ["start"]
