# A small image with the program alone; scripts/container.sh builds and tests it.
FROM debian:trixie-slim AS build
COPY . /source
RUN bash /source/scripts/container_build.sh /source /out

FROM debian:trixie-slim
COPY --from=build /out/trainwright /usr/local/bin/trainwright
COPY --from=build /out/licences /usr/local/share/doc/trainwright/licences
RUN useradd --create-home trainwright
USER trainwright
WORKDIR /home/trainwright
ENTRYPOINT ["trainwright"]
CMD ["--help"]
